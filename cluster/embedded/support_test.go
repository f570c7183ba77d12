package embedded_test

import (
	"encoding/pem"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
)

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func tokenRequest() *authenticationv1.TokenRequest {
	hour := int64(3600)
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour}}
}

func selfReview() *authenticationv1.SelfSubjectReview { return &authenticationv1.SelfSubjectReview{} }

func loopbackOnly(t *testing.T, _ *lab, _ string) {
	t.Helper()
	for _, listener := range listeners(t) {
		if !listener.IP.IsLoopback() {
			t.Errorf("a process of ours listens on %s", &listener)
		}
	}
}
