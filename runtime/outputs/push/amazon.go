package push

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
)

// endpointOf is the address of the option endpoint; nil if it is not given.
func endpointOf(s *outputs.Settings) (*url.URL, error) {
	endpoint := s.Text("endpoint")
	if endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("endpoint = %q is no address: write it as in http://127.0.0.1:9000", endpoint)
	}
	u.Path = ""
	return u, nil
}

// amazon is one of Amazon's services that take JSON.
type amazon struct {
	aws  *aws
	base url.URL
}

// newAmazon finds a service: host is its name in front of the region.
func newAmazon(s *outputs.Settings, service, host string) (*amazon, error) {
	a, err := newAWS(s, service)
	if err != nil {
		return nil, err
	}
	out := &amazon{aws: a, base: url.URL{Scheme: "https", Host: host + "." + a.region + ".amazonaws.com", Path: "/"}}
	u, err := endpointOf(s)
	if u != nil {
		out.base.Scheme, out.base.Host = u.Scheme, u.Host
	}
	return out, err
}

// amazonOptions are those of a kind, and where the service is.
func amazonOptions(own ...outputs.Option) []outputs.Option {
	return append(append(own, awsOptions()...), outputs.Option{Name: "endpoint", Help: "address of the service other than Amazon's, as in http://127.0.0.1:4566"})
}

// ask is a call of JSON 1.0: target names the operation.
func (z *amazon) ask(target string, in any, most int) (*call, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	return &call{
		method: http.MethodPost, url: z.base.String(), body: body, most: most, sign: z.aws.sign,
		header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {target}},
	}, nil
}

// amazonError is the error of an answer of JSON.
type amazonError struct {
	Type     string `json:"__type"`
	Message  string `json:"message"`
	Rejected []struct {
		Index   int    `json:"RecordIndex"`
		Reason  string `json:"Reason"`
		Version *int64 `json:"ExistingVersion"`
	} `json:"RejectedRecords"` // of Timestream
}

// amazonSaid reads an answer that is an error; Type is empty if it names none. What people see of the answer is the type
// and the text.
func amazonSaid(a *answer) (said amazonError) {
	if a.status/100 == 2 || json.Unmarshal(a.body, &said) != nil {
		said = amazonError{}
	}
	if head := a.header.Get("X-Amzn-Errortype"); said.Type == "" {
		said.Type, _, _ = strings.Cut(head, ":")
	}
	if at := strings.LastIndexByte(said.Type, '#'); at >= 0 {
		said.Type = said.Type[at+1:]
	}
	if said.Type != "" {
		a.body = []byte(said.Type + ": " + said.Message)
	}
	return said
}

// amazonJudge is what errors of all these services mean.
func amazonJudge(b outputs.Batch, a *answer, said *amazonError) outputs.Outcome {
	name := said.Type
	switch {
	case strings.Contains(name, "Throttl"), strings.HasPrefix(name, "TooManyRequests"), name == "RequestLimitExceeded", name == "ServiceUnavailable", name == "InternalServerException", name == "InternalFailure":
		return outputs.Again(a.after(time.Now()), a.text())
	case strings.HasPrefix(name, "ExpiredToken"), name == "UnrecognizedClientException", name == "InvalidClientTokenId", strings.HasPrefix(name, "AccessDenied"), strings.HasSuffix(name, "SignatureException"),
		name == "SignatureDoesNotMatch", strings.HasPrefix(name, "MissingAuthenticationToken"):
		return outputs.Denied(a.text() + ": correct the credentials and the region, or the rights that they have there")
	case name == "ResourceNotFoundException":
		return outputs.Rejected(nil, a.text()+": create it, or correct its name and the region")
	case name == "RequestTooLargeException", name == "RequestEntityTooLargeException":
		return tooLarge(b, a.text())
	}
	return standard(b, a)
}
