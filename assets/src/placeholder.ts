/** Whether a command can run as it stands, without a placeholder: <name>, NAME, $VALUE or an ellipsis. */
export function isWhole(command: string): boolean {
  return !/…|\.\.\.|<[\w-]+>|\$[A-Z]|(?<![^\s/=.,:])[A-Z][A-Z_-]*(?![^\s/=.,:])/.test(command)
}
