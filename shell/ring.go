package shell

// ring keeps the newest bytes of a stream, and their offsets since its beginning.
type ring struct {
	buf []byte
	end uint64 // offset after the newest byte
}

func newRing(size int) *ring { return &ring{buf: make([]byte, size)} }

// start is the offset of the oldest byte kept.
func (r *ring) start() uint64 {
	if n := uint64(len(r.buf)); r.end > n {
		return r.end - n
	}
	return 0
}

func (r *ring) write(p []byte) {
	if skip := len(p) - len(r.buf); skip > 0 {
		r.end += uint64(skip)
		p = p[skip:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.end%uint64(len(r.buf)):], p)
		r.end += uint64(n)
		p = p[n:]
	}
}

// read copies at most limit bytes from an offset on, or from the oldest kept if that is later.
func (r *ring) read(from uint64, limit int) (start uint64, p []byte) {
	start = max(from, r.start())
	if start >= r.end {
		return start, nil
	}
	p = make([]byte, min(uint64(limit), r.end-start))
	n := copy(p, r.buf[start%uint64(len(r.buf)):])
	copy(p[n:], r.buf)
	return start, p
}
