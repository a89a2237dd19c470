// Package sigv4 verifies the signatures of requests to doubles of Amazon's services, with the signer of aws-sdk-go-v2.
package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// The credentials that a double knows.
const (
	Key    = "AKIDTEST"
	Secret = "test-secret/with+signs"
	Region = "eu-west-1"
	skew   = 15 * time.Minute
)

// Verify signs a request again with the SDK's signer, and compares. It returns the code of an error, as the services name it;
// empty: the signature is right.
func Verify(r *http.Request, body []byte) (code string) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "AccessDenied"
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/")
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case len(scope) != 5 || err != nil || scope[1] != at.Format("20060102"):
		return "AuthorizationHeaderMalformed"
	case scope[0] != Key:
		return "InvalidAccessKeyId"
	case scope[2] != Region:
		return "AuthorizationHeaderMalformed"
	case time.Since(at).Abs() > skew:
		return "RequestTimeTooSkewed"
	}
	digest, sum := r.Header.Get("X-Amz-Content-Sha256"), sha256.Sum256(body)
	if digest == "" && scope[3] != "s3" {
		digest = hex.EncodeToString(sum[:])
	}
	if digest != hex.EncodeToString(sum[:]) && !(digest == "UNSIGNED-PAYLOAD" || strings.HasPrefix(digest, "STREAMING-")) {
		return "XAmzContentSHA256Mismatch"
	}
	again, err := http.NewRequest(r.Method, "http://"+r.Host+r.URL.RequestURI(), nil)
	if err != nil {
		return "InvalidURI"
	}
	for name := range strings.SplitSeq(parts["SignedHeaders"], ";") {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = scope[3] == "s3" })
	if err := signer.SignHTTP(context.Background(), aws.Credentials{AccessKeyID: Key, SecretAccessKey: Secret}, again, digest, scope[3], Region, at); err != nil {
		return "InternalError"
	}
	if !strings.HasSuffix(again.Header.Get("Authorization"), "Signature="+parts["Signature"]) {
		return "SignatureDoesNotMatch"
	}
	return ""
}
