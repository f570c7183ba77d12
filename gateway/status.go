package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage bounds the message of a record, for answers that are no Status.
const maxMessage = 1 << 10

func unauthorized(says string) *metav1.Status {
	return failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, says)
}

func forbidden(says string) *metav1.Status {
	return failure(http.StatusForbidden, metav1.StatusReasonForbidden, says)
}

// unavailable carries no Retry-After header: kubectl would obey it ten times over without a word, after the gateway has
// waited already.
func unavailable(says string) *metav1.Status {
	return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, says)
}

func failure(code int32, reason metav1.StatusReason, says string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Code:     code,
		Reason:   reason,
		Message:  says,
	}
}

// discovers tells whether a request is client-go's for aggregated discovery. It reads no Status there, only text.
func discovers(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "g=apidiscovery.k8s.io")
}

func writeStatus(w http.ResponseWriter, r *http.Request, status *metav1.Status) {
	if discovers(r) {
		http.Error(w, status.Message, int(status.Code))
		return
	}
	data, err := json.Marshal(status)
	if err != nil {
		http.Error(w, status.Message, int(status.Code))
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	header.Set("Cache-Control", "no-cache, private") // as the API server does
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(data)
}

// outcome reads reason and message of a refused request out of its answer: a metav1.Status, or text. A code of 0 is taken
// from there, too.
func outcome(code int, contentType string, body []byte) Status {
	outcome := Status{Code: code}
	if strings.HasPrefix(mediaType(contentType), "text/") {
		text := strings.TrimSpace(string(body))
		outcome.Message = strings.ToValidUTF8(text[:min(len(text), maxMessage)], "")
		return outcome
	}
	var status metav1.Status
	if json.Unmarshal(asJSON(body, contentType, defaultLimits.body), &status) != nil || status.Kind != "Status" {
		return outcome
	}
	outcome.Reason, outcome.Message = string(status.Reason), status.Message
	if code == 0 {
		outcome.Code = int(status.Code)
	}
	return outcome
}
