package controlplane

// What the simulated kubelets do, and when: each stage is due when all of its conditions hold of the object, and no two
// stages of a kind are due together. What a step makes of a pod's status is told by podSimulator, in Go.

// AnnotationSimulate asks a pod's containers to misbehave: see the values below. Without it they start, become ready,
// and run on; those of a pod that is not always restarted (as a Job's) end well after a moment.
const AnnotationSimulate = "apilab.io/simulate"

// The values of AnnotationSimulate.
const (
	SimulateCrash     = "crash"      // exit code 1 after a moment, again and again
	SimulateOOM       = "oom"        // killed for its memory
	SimulateImagePull = "image-pull" // the image cannot be pulled
	SimulateUnready   = "unready"    // the readiness probe never succeeds
	SimulateRun       = "run"        // runs on, even if it is a Job's
	SimulateSlowStop  = "slow-stop"  // ignores SIGTERM and is killed when its grace period is over
)

const (
	jqAlive    = `.metadata.deletionTimestamp == null`
	jqDoomed   = `.metadata.deletionTimestamp != null`
	jqPending  = `(.status.phase // "Pending") == "Pending"`
	jqRunning  = `.status.phase == "Running"`
	jqAccepted = `(.status.containerStatuses // []) | length > 0`
	jqCurrent  = `(.metadata.generation // 0) == (.status.observedGeneration // 0)`
	jqSettled  = `[(.status.conditions // [])[] | select(.type == "PodResizeInProgress")] | length == 0`
	jqInit     = `[(.status.conditions // [])[] | select(.type == "Initialized" and .status == "True")] | length > 0`
	jqReady    = `[(.status.conditions // [])[] | select(.type == "Ready" and .status == "True")] | length > 0`

	jqAsked   = `(.metadata.annotations["apilab.io/simulate"] // "")`
	jqCommand = `([.spec.containers[] | ((.command // []) + (.args // [])) | join(" ")] | join("; "))`
	jqImages  = `([.spec.containers[].image] | join(" "))`

	// jqEnds tells of a running pod whether its containers end by themselves. A plain "sleep 3600" counts as running on.
	jqEnds = jqAsked + ` as $asked | $asked != "run" and ` +
		`(.spec.restartPolicy != "Always" or $asked == "crash" or $asked == "oom" or ` +
		`(` + jqImages + ` | test("crash")) or (` + jqCommand + ` | test("(^|[ ;&])(exit [1-9][0-9]*|false)$")))`

	// jqRunTime is how long its containers run: what they sleep, else a moment.
	jqRunTime = `(` + jqCommand + ` | capture("sleep (?<s>[0-9]+([.][0-9]+)?)") | .s + "s") // "2s"`
)

// jqWaiting is true if a container waits for one of the reasons.
func jqWaiting(reasons string) string {
	return `[(.status.containerStatuses // [])[] | select((.state.waiting.reason // "") | test("^(` + reasons + `)$"))] | length > 0`
}

const (
	jqEnded     = `[(.status.containerStatuses // [])[] | select(.state.terminated != null)] | length > 0`
	jqNoneEnded = `[(.status.containerStatuses // [])[] | select(.state.terminated != null)] | length == 0`
	jqNoneWaits = `[(.status.containerStatuses // [])[] | select(.state.waiting != null)] | length == 0`
	jqNotReady  = `([(.status.containerStatuses // [])[] | select(.state.running != null and .ready == false)] | length > 0) or ` + jqSidecarNotYet
	jqAllReady  = `([(.status.containerStatuses // [])[] | select(.ready == false)] | length == 0) and (` + jqSidecarNotYet + ` | not)`
	jqLiving    = `([(.status.containerStatuses // [])[] | select(.state.terminated == null)] + ` + jqInitRunning + `) | length > 0`
	jqNoLiving  = `([(.status.containerStatuses // [])[] | select(.state.terminated == null)] + ` + jqInitRunning + `) | length == 0`

	jqInitRunning   = `[(.status.initContainerStatuses // [])[] | select(.state.running != null)]`
	jqSidecarNotYet = `(` + jqInitRunning + ` | map(select(.ready == false)) | length > 0)`

	// jqOver is true if every container but the sidecars has ended, and none is to be started again.
	jqOver = `(.spec.restartPolicy as $policy | $policy != "Always" and ([(.status.containerStatuses // [])[] | ` +
		`select(.state.terminated == null or $policy == "OnFailure" and .state.terminated.exitCode != 0)] | length == 0))`
)

var podStages = []stage{
	{
		name:  "accept",
		when:  []string{jqAlive, jqPending, `(.status.containerStatuses // []) | length == 0`},
		after: `"150ms"`,
		patch: `{{ PodStatus "accept" . }}`,
	},
	{
		name: "init",
		when: []string{jqAlive, jqPending, jqAccepted, jqCurrent, jqInit + ` | not`},
		after: `(` + jqInitRunning + ` | map(.name)) as $running | ` +
			`([.spec.initContainers[] | select(.restartPolicy != "Always" and (.name as $name | $running | index($name) != null)) | ((.command // []) + (.args // [])) | join(" ") | capture("sleep (?<s>[0-9]+)") | .s + "s"] | first) // "500ms"`,
		patch: `{{ PodStatus "init" . }}`,
	},
	{
		name:  "start",
		when:  []string{jqAlive, jqAccepted, jqCurrent, jqInit, jqWaiting("ContainerCreating")},
		after: `"400ms"`,
		patch: `{{ PodStatus "start" . }}`,
	},
	{
		name:  "image-back-off",
		when:  []string{jqAlive, jqAccepted, jqCurrent, jqInit, jqWaiting("ContainerCreating") + ` | not`, jqWaiting("ErrImagePull")},
		after: `"2s"`,
		patch: `{{ PodStatus "image-back-off" . }}`,
	},
	{
		name:  "image-retry",
		when:  []string{jqAlive, jqAccepted, jqCurrent, jqInit, jqWaiting("ContainerCreating|ErrImagePull") + ` | not`, jqWaiting("ImagePullBackOff")},
		after: `"20s"`,
		patch: `{{ PodStatus "start" . }}`,
	},
	{
		name:  "ready",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqSettled, jqNoneWaits, jqNoneEnded, jqNotReady, jqAsked + ` != "unready"`},
		after: `([.spec.containers[], (.spec.initContainers // [])[] | (.startupProbe.initialDelaySeconds // 0) + (.readinessProbe.initialDelaySeconds // 0)] | max | tostring) + "s"`,
		patch: `{{ PodStatus "ready" . }}`,
	},
	{
		name:  "finish",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqSettled, jqNoneWaits, jqNoneEnded, jqAllReady, jqEnds},
		after: jqRunTime,
		patch: `{{ PodStatus "finish" . }}`,
	},
	{
		name:  "back-off",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqEnded, jqNoneWaits, jqOver + ` | not`},
		after: `"1s"`,
		patch: `{{ PodStatus "back-off" . }}`,
	},
	{
		name:  "stop-sidecars",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqOver, jqInitRunning + ` | length > 0`},
		after: `"1s"`,
		patch: `{{ PodStatus "stop-sidecars" . }}`,
	},
	{
		name:  "restart",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqWaiting("CrashLoopBackOff")},
		after: `([10 * pow(2; [([.status.containerStatuses[].restartCount] | max) , 5] | min), 300] | min | tostring) + "s"`,
		patch: `{{ PodStatus "restart" . }}`,
	},
	{
		name:  "observe",
		when:  []string{jqAlive, jqAccepted, jqCurrent + ` | not`, `.status.phase != "Succeeded" and .status.phase != "Failed"`},
		after: `"200ms"`,
		patch: `{{ PodStatus "observe" . }}`,
	},
	{
		name:  "resize",
		when:  []string{jqAlive, jqRunning, jqCurrent, jqSettled + ` | not`},
		after: `"1s"`,
		patch: `{{ PodStatus "resize" . }}`,
	},
	{
		name: "stop",
		when: []string{jqDoomed, jqLiving},
		// A program that ends on SIGTERM takes a moment; sleep as a container's first process does not handle it.
		after: `(.metadata.deletionTimestamp | fromdate) as $deadline | (.metadata.deletionGracePeriodSeconds // 0) as $grace | ` +
			`if ` + jqAsked + ` == "slow-stop" or (` + jqCommand + ` | test("(^|[ ;])sleep [0-9]+$")) then .metadata.deletionTimestamp ` +
			`else ([$grace, 1 + ([.spec.containers[].lifecycle.preStop.sleep.seconds // 0] | max)] | min | tostring) + "s" end`,
		patch: `{{ PodStatus "stop" . }}`,
	},
	{
		name: "gone",
		when: []string{jqDoomed, jqNoLiving, `(.metadata.finalizers // []) | length == 0`},
		gone: true,
	},
}

var nodeStages = []stage{
	{
		name:  "register", // a node that the learner made
		when:  []string{`[(.status.conditions // [])[] | select(.type == "Ready" and .status == "True")] | length == 0`},
		patch: `{{ NodeStatus . }}`,
	},
}
