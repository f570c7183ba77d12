package figures

import "testing"

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred Samples
	for i := range 100 {
		hundred.Add(float64(100 - i))
	}
	tests := []struct {
		s    Samples
		q    float64
		want float64
	}{
		{hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100}, {hundred, 0, 1},
		{Samples{7}, 0.99, 7}, {Samples{3, 1, 2}, 0.5, 2}, {nil, 0.5, 0},
	}
	for _, tt := range tests {
		if got := tt.s.Quantile(tt.q); got != tt.want {
			t.Errorf("quantile %v of %d: %v, want %v", tt.q, len(tt.s), got, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0", 2: "2", 2.456: "2.46", 12.34: "12.3", 1234.5: "1234"} {
		if got := Number(x); got != want {
			t.Errorf("Number(%v) = %s, want %s", x, got, want)
		}
	}
}
