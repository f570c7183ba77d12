package kind_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A webhook refuses ConfigMaps.
type webhook struct {
	server *http.Server
	ca     []byte
}

func newWebhook(t *testing.T) webhook {
	t.Helper()
	borrowed := httptest.NewTLSServer(nil) // for its certificate, which is good for example.com and 127.0.0.1
	defer borrowed.Close()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var review admissionv1.AdmissionReview
		_ = json.NewDecoder(bytes.NewReader(body)).Decode(&review)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not on a Monday"}}
		_ = json.NewEncoder(w).Encode(review)
	})
	return webhook{
		server: &http.Server{
			Handler:   handler,
			TLSConfig: &tls.Config{Certificates: borrowed.TLS.Certificates},
			ErrorLog:  log.New(io.Discard, "", 0),
		},
		ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: borrowed.Certificate().Raw}),
	}
}

func (w webhook) configuration() *registration.ValidatingWebhookConfiguration {
	url, none := "https://127.0.0.1:8443/", registration.SideEffectClassNone
	return &registration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "monday"},
		Webhooks: []registration.ValidatingWebhook{{
			Name:                    "monday.example.com",
			ClientConfig:            registration.WebhookClientConfig{URL: &url, CABundle: w.ca},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
			Rules: []registration.RuleWithOperations{{
				Operations: []registration.OperationType{registration.Create},
				Rule:       registration.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			MatchConditions: []registration.MatchCondition{{Name: "ours", Expression: "request.name == 'monday'"}},
		}},
	}
}

func configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "monday"}}
}
