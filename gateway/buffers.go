package gateway

import "sync"

// buffers is a httputil.BufferPool: with 60 learners' watches open, the copy buffers would be most of the gateway's memory
// churn.
type buffers struct{ pool sync.Pool }

const bufferSize = 32 << 10

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

func (b *buffers) Get() []byte  { return b.pool.Get().(*[bufferSize]byte)[:] }
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }
