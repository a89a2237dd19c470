// Command amazon is a double of CloudWatch, Lambda and Timestream, for tests. Its signatures are verified by the signer of
// aws-sdk-go-v2, and before it prints its address, the SDK's own clients must have passed, and have failed with a wrong
// secret. Credentials are those of package sigv4. CloudWatch is asked in JSON 1.0, which the SDK speaks, too. The function
// is `load results`; one row whose test is `fail` makes it fail. The table is load/rows. Its second address is a page of what it took.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"hyperscale/bench/vendors/double"
	"hyperscale/bench/vendors/sigv4"
)

type service struct {
	store double.Store

	mu      sync.Mutex
	records map[string]kept // of Timestream
}

// refuse answers as these services do.
func refuse(w http.ResponseWriter, status int, code, why string) {
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": "com.amazonaws.double#" + code, "message": why})
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if code := sigv4.Verify(r, body); code != "" {
		status, name := http.StatusForbidden, map[string]string{"SignatureDoesNotMatch": "InvalidSignatureException", "InvalidAccessKeyId": "UnrecognizedClientException", "AccessDenied": "MissingAuthenticationTokenException"}[code]
		if name == "" {
			name = code
		}
		refuse(w, status, name, "the double says so")
		return
	}
	scope := r.Header.Get("Authorization")
	target := r.Header.Get("X-Amz-Target")
	switch {
	case strings.HasPrefix(r.URL.Path, "/2015-03-31/functions/") && strings.Contains(scope, "/lambda/"):
		s.lambda(w, r, body)
	case target == "GraniteServiceVersion20100801.PutMetricData" && strings.Contains(scope, "/monitoring/"):
		s.cloudWatch(w, body)
	case strings.HasPrefix(target, "Timestream_20181101.") && strings.Contains(scope, "/timestream/"):
		s.timestream(w, r, strings.TrimPrefix(target, "Timestream_20181101."), body)
	default:
		refuse(w, http.StatusBadRequest, "UnknownOperationException", target)
	}
}

func main() {
	s := &service{records: map[string]kept{}}
	double.Main(s, &s.store, s.judge)
}
