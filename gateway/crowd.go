package gateway

import (
	"fmt"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxUnderway bounds the requests of a learner that are under way at a time. A watch is one as long as it lasts, and each
// takes memory and a stream of the gateway's, which is everybody's.
const maxUnderway = 500

// A crowd counts requests under way by learner. Its zero value is ready for use.
type crowd struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts a request in, unless its learner has too many.
func (c *crowd) enter(learner string) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[learner] >= maxUnderway {
		return nil, false
	}
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[learner]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.of[learner]--; c.of[learner] == 0 {
			delete(c.of, learner)
		}
	}, true
}

// crowded carries no Retry-After header: watches do not end by waiting.
func crowded() *metav1.Status {
	return failure(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests,
		fmt.Sprintf("%d requests of yours are under way, which is the most there can be: end some of your watches, then try again", maxUnderway))
}
