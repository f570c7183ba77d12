package tools

// An Edit is one line of a comparison: kept (' '), only in the first text ('-') or only in the second ('+'). A and B are
// the numbers of lines of both texts before it.
type Edit struct {
	Kind byte
	Text string
	A, B int
}

// maxEdits bounds the search for the shortest script. Texts that differ more are shown as replaced as a whole.
const maxEdits = 4000

// Edits finds the shortest script from a to b, after Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
func Edits(a, b []string, same func(a, b string) bool) []Edit {
	head := 0
	for head < len(a) && head < len(b) && same(a[head], b[head]) {
		head++
	}
	end := 0
	for end < len(a)-head && end < len(b)-head && same(a[len(a)-1-end], b[len(b)-1-end]) {
		end++
	}
	var edits []Edit
	i, j := 0, 0
	emit := func(kind byte) {
		e := Edit{Kind: kind, A: i, B: j}
		if kind != '+' {
			e.Text = a[i]
			i++
		} else {
			e.Text = b[j]
		}
		if kind != '-' {
			j++
		}
		edits = append(edits, e)
	}
	for range head {
		emit(' ')
	}
	for _, kind := range script(a[head:len(a)-end], b[head:len(b)-end], same) {
		emit(kind)
	}
	for range end {
		emit(' ')
	}
	return edits
}

// script returns the kinds of the edits in order.
func script(a, b []string, same func(a, b string) bool) []byte {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	at := make([]int, 2*limit+3) // furthest x on diagonal k, at index k+limit+1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), at[limit+1-d:limit+2+d]...))
		for k := -d; k <= d; k += 2 {
			i := k + limit + 1
			x := at[i-1] + 1
			if k == -d || k != d && at[i-1] < at[i+1] {
				x = at[i+1]
			}
			for x < n && x-k < m && same(a[x], b[x-k]) {
				x++
			}
			at[i] = x
			if x >= n && x-k >= m {
				return backtrack(trace, n, m)
			}
		}
	}
	var all []byte
	for range n {
		all = append(all, '-')
	}
	for range m {
		all = append(all, '+')
	}
	return all
}

func backtrack(trace [][]int, x, y int) []byte {
	var kinds []byte
	for d := len(trace) - 1; d >= 0; d-- {
		k := x - y
		before := func(k int) int { // furthest x on diagonal k before step d
			if i := k + d; i >= 0 && i < len(trace[d]) {
				return trace[d][i]
			}
			return -1
		}
		prev := k - 1
		if k == -d || k != d && before(k-1) < before(k+1) {
			prev = k + 1
		}
		px := 0
		py := 0
		if d > 0 {
			px = before(prev)
			py = px - prev
		}
		for x > px && y > py {
			kinds = append(kinds, ' ')
			x, y = x-1, y-1
		}
		if d > 0 {
			if x == px {
				kinds = append(kinds, '+')
			} else {
				kinds = append(kinds, '-')
			}
			x, y = px, py
		}
	}
	for i, j := 0, len(kinds)-1; i < j; i, j = i+1, j-1 {
		kinds[i], kinds[j] = kinds[j], kinds[i]
	}
	return kinds
}
