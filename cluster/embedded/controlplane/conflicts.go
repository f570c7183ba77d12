package controlplane

import (
	"errors"
	"net/http"

	"k8s.io/client-go/rest"
)

// retryConflicts returns access whose holder hears of a conflict as of any other failure, and so tries again.
//
// The API server's controllers of resource definitions ignore conflicts: whatever changed the definition will wake them.
// Their finalizer, however, does not wake for its own condition Terminating. It writes that when a deletion fails, as it
// does while the storage of the definition's objects, which nobody may have asked for before, is not ready. 5 ms later it
// begins again, and if its cache is still without that write, runs into a conflict with itself. The definition then
// stayed until something else changed it, at the latest the cache's resync every 5 minutes.
func retryConflicts(access *rest.Config) *rest.Config {
	access = rest.CopyConfig(access)
	access.Wrap(func(next http.RoundTripper) http.RoundTripper { return failConflicts{next} })
	return access
}

type failConflicts struct{ next http.RoundTripper }

var errConflict = errors.New("the object was changed in the meantime")

func (f failConflicts) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := f.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusConflict {
		response.Body.Close()
		return nil, errConflict
	}
	return response, err
}
