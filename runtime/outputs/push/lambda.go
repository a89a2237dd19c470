package push

import (
	"net/http"
	"net/url"
	"strings"

	"hyperscale/runtime/outputs"
)

// lambdaMax bounds the event of a synchronous invocation.
const lambdaMax = 6 << 20

// Lambda is the kind `lambda`: a function gets rows as JSON. Source: "Invoke" in the API reference of AWS Lambda.
func Lambda() outputs.Kind {
	return outputs.Kind{
		Name: "lambda", Engine: "push", About: "a function of AWS Lambda: rows as JSON in its event, during the run and at its end",
		Place: "FUNCTION", Example: "load-results,region=eu-west-1",
		Options:  amazonOptions(outputs.Option{Name: "qualifier", Help: "a version or an alias of the function"}),
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 200, Bytes: 512 << 10},
		Tested:   "a double of ours that verifies signatures with aws-sdk-go-v2 1.48.0, and that its Lambda client 1.115.0 passes; no Lambda",
		Open:     openLambda,
	}
}

type lambda struct {
	*amazon
	url string
}

func openLambda(s *outputs.Settings) (outputs.Sink, error) {
	z, err := newAmazon(s, "lambda", "lambda")
	if err != nil {
		return nil, err
	}
	u := z.base
	u.Path = "/2015-03-31/functions/" + s.Place + "/invocations"
	u.RawPath = "/2015-03-31/functions/" + url.PathEscape(s.Place) + "/invocations"
	if q := s.Text("qualifier"); q != "" {
		u.RawQuery = url.Values{"Qualifier": {q}}.Encode()
	}
	return newSink(&lambda{z, u.String()}), nil
}

// probes ask whether the credentials may invoke the function, which does not run.
func (l *lambda) probes() ([]*call, error) { return []*call{l.call("DryRun", nil)}, nil }

func (l *lambda) encode(b outputs.Batch) (*call, error) {
	return l.call("RequestResponse", b.Rows), nil
}

func (l *lambda) call(how string, rows []outputs.Row) *call {
	return &call{
		method: http.MethodPost, url: l.url, body: envelope(rows), most: lambdaMax, sign: l.aws.sign,
		header: http.Header{"Content-Type": {"application/json"}, "X-Amz-Invocation-Type": {how}},
	}
}

// judge: a function that failed answers 200, and may have kept rows before.
func (l *lambda) judge(b outputs.Batch, a *answer) outputs.Outcome {
	if failed := a.header.Get("X-Amz-Function-Error"); a.status/100 == 2 && failed != "" {
		return outputs.Unclear("the function failed (" + clean(failed+" "+string(a.body), a.hide) + ")")
	}
	said := amazonSaid(a)
	if strings.HasPrefix(said.Type, "EC2") || strings.HasPrefix(said.Type, "ENILimit") { // its machine, not the rows
		return outputs.Again(0, a.text())
	}
	return amazonJudge(b, a, &said)
}
