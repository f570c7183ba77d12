package embedded

import "testing"

// A cluster is full before it is out of memory.
func TestStoreFitsTheMemory(t *testing.T) {
	o := Options{StoreBytes: 256 << 20}
	for memory, want := range map[int64]int64{0: 256 << 20, 256 << 20: 128 << 20 / 3, 512 << 20: 128 << 20, 1 << 30: 256 << 20} {
		if got := o.storeBytes(memory); got != want {
			t.Errorf("of %d MiB, objects may take %d bytes, want %d", memory>>20, got, want)
		}
	}
}
