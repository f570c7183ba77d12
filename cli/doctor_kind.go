package cli

import (
	"context"
	"fmt"

	"github.com/apilab/apilab/cluster/kind"
)

// examineKind looks at whether kind clusters can be made. Who does not begin with them only misses some lessons without.
func (p *Program) examineKind(ctx context.Context, dir string, o backendFlags, learners int) []named {
	wanted := o.provider == kindBackend
	engine, err := kind.Detect(ctx)
	if err != nil {
		f := finding{good, "no container engine; lessons on real nodes need docker, podman or nerdctl", ""}
		if wanted {
			f = finding{bad, "no container engine", err.Error()}
		}
		return []named{{"kind", f}}
	}
	var all []named
	for _, k := range kind.Preflight(ctx, p.kindOptions(dir, engine, o), learners) {
		f := finding{good, k.Says, k.Fix}
		switch {
		case k.Grade == kind.Bad && wanted:
			f.grade = bad
		case k.Grade == kind.Bad:
			f.grade, f.says = warning, f.says+" (no lessons on real nodes)"
		case k.Grade == kind.Warning:
			f.grade = warning
		}
		all = append(all, named{fmt.Sprint("kind ", k.Check), f})
	}
	return all
}
