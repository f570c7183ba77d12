package exercises

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apilab/apilab/exercises/spelling"
)

// checkNeeds finds exercises that need one that is not there, or each other.
func checkNeeds(set *Set, lines map[string]map[string]int) []Problem {
	var problems []Problem
	var ids []string
	edges := map[string][]string{}
	for _, e := range set.all {
		ids = append(ids, e.ID)
		edges[e.ID] = e.Needs
	}
	for _, e := range set.all {
		for _, need := range e.Needs {
			if _, known := lines[need]; known {
				continue // there, perhaps with problems of its own
			}
			message := fmt.Sprintf("needs an exercise %q that does not exist", need)
			if near, ok := spelling.Nearest(need, ids); ok {
				message += fmt.Sprintf("; did you mean %q?", near)
			}
			problems = append(problems, Problem{File: e.ID + ".yaml", Line: lines[e.ID][need], Message: message})
		}
	}
	if cycle := findCycle(ids, edges); cycle != nil {
		problems = append(problems, Problem{
			File: cycle[0] + ".yaml", Line: lines[cycle[0]][cycle[1]],
			Message: "exercises need each other: " + strings.Join(cycle, " → "),
		})
	}
	return problems
}

// findCycle returns the first cycle in a graph, its first node again at its end; nil if there is none.
func findCycle(nodes []string, edges map[string][]string) []string {
	done := map[string]bool{}
	var way []string
	var visit func(string) []string
	visit = func(node string) []string {
		if i := slices.Index(way, node); i >= 0 {
			return append(slices.Clone(way[i:]), node)
		}
		if done[node] {
			return nil
		}
		way = append(way, node)
		for _, next := range edges[node] {
			if cycle := visit(next); cycle != nil {
				return cycle
			}
		}
		way = way[:len(way)-1]
		done[node] = true
		return nil
	}
	for _, node := range nodes {
		if cycle := visit(node); cycle != nil {
			return cycle
		}
	}
	return nil
}
