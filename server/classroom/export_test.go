package classroom

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/apilab/apilab/server/hub"
	"github.com/apilab/apilab/server/protocol"
)

func TestExport(t *testing.T) {
	bubble(t, func(t *testing.T, s *stage) {
		s.tell("ada", state("t/a", "a1:failing:x", "a2:waiting"))
		time.Sleep(90 * time.Second)
		s.tell("ada", state("t/a", "a1:passing", "a2:failing:=SUM(A1)"))
		s.Follow("ada", hub.Report{Exercise: state("t/gone", "x:passing")}) // of no lesson any more
		export := s.room.Export()
		if len(export.Learners) != 2 || len(export.Learners[0].Exercises) != 1 || export.Learners[0].Exercises[0].Checks[0].State != protocol.CellPassing {
			t.Fatalf("export %+v", export)
		}
		var out strings.Builder
		if err := export.WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range lines {
			got = append(got, strings.Join(append(l[:8:8], l[10:]...), "|"))
		}
		want := []string{
			"learner|name|track|lesson|exercise|check|says|state|minutes|why",
			"ada|Ada|T|t/one|t/a|a1|says a1|passing|1.5|",
			"ada|Ada|T|t/one|t/a|a2|says a2|failing||'=SUM(A1)",
			"bob|Bob||||||||",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("CSV:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ada": "Ada", "": "", "l-abc": "l-abc", "O'Neil": "O'Neil", "3": "3", "a=b": "a=b",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "  =1": "'  =1",
		"\u00a0=1": "'\u00a0=1", "＝1": "'＝1", "|calc": "'|calc", "\tx": "'\tx", "\n=1": "'\n=1",
	} {
		if got := harmless(text); got != want {
			t.Errorf("harmless(%q) = %q, want %q", text, got, want)
		}
	}
}
