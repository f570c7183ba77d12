package tools

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// flags is a set of GNU style options: clusters (-la), attached values (-n5), options after operands.
type flags struct {
	*pflag.FlagSet
	c *Call
}

func (c *Call) flags() *flags {
	f := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	return &flags{f, c}
}

// first stops at the first operand, which is a command with options of its own.
func (f *flags) first() *flags {
	f.SetInterspersed(false)
	return f
}

// yes defines an option without a value; name is "long", and letter its short form or "".
func (f *flags) yes(name, letter, says string) *bool {
	if name == "" {
		name = "short-" + letter // the library wants a long one
	}
	return f.BoolP(name, letter, false, says)
}

// parse returns the operands. --help prints the usage, and ends the tool with status 0.
func (f *flags) parse() ([]string, error) { return f.parseArgs(f.c.Args) }

func (f *flags) parseArgs(args []string) ([]string, error) {
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		t := table[f.c.Name]
		fmt.Fprintf(f.c.Stdout, "usage: %s %s\n%s\n%s", f.c.Name, t.Usage, t.Says, f.FlagUsages())
		return nil, Status(0)
	}
	if err != nil {
		return nil, errUsage{err}
	}
	return f.Args(), nil
}

// number rewrites the old form -5 of head and tail to -n 5.
func number(args []string) []string {
	if len(args) == 0 || len(args[0]) < 2 || args[0][0] != '-' || strings.Trim(args[0][1:], "0123456789") != "" {
		return args
	}
	return append([]string{"-n", args[0][1:]}, args[1:]...)
}

// attach rewrites -iVALUE of an option whose value may be left out to -i=VALUE.
func attach(args []string, letter string) []string {
	out := append([]string(nil), args...)
	for i, a := range out {
		if rest, ok := strings.CutPrefix(a, letter); ok && rest != "" && rest[0] != '=' {
			out[i] = letter + "=" + rest
		}
	}
	return out
}
