package push

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hyperscale/runtime/outputs"
)

// FuzzAmazonAnswer: any answer is a verdict about this batch, in one line, and an address that is not Amazon's is not asked.
func FuzzAmazonAnswer(f *testing.F) {
	f.Add(419, "RejectedRecordsException", []byte(`{"__type":"com.amazonaws#RejectedRecordsException","RejectedRecords":[{"RecordIndex":1,"Reason":"no\nlines"},{"RecordIndex":0,"ExistingVersion":9}]}`))
	f.Add(400, "ThrottlingException:http://x", []byte(`{"message":"slow"}`))
	f.Add(200, "", []byte(`{"Endpoints":[{"Address":"evil.example/.amazonaws.com","CachePeriodInMinutes":99999999999}]}`))
	z := &amazon{}
	z.base.Host = "ingest.timestream.eu-west-1.amazonaws.com"
	f.Fuzz(func(t *testing.T, status int, head string, body []byte) {
		b := outputs.Batch{Rows: windows("j", "s", 3)}
		for _, s := range []service{&timestream{amazon: z}, &lambda{amazon: z}, &cloudWatch{amazon: z}} {
			out := s.judge(b, &answer{status: status, header: http.Header{"X-Amzn-Errortype": {head}}, body: body})
			last := -1
			for _, i := range out.Rows {
				if i <= last || i >= len(b.Rows) {
					t.Fatalf("rows %v", out.Rows)
				}
				last = i
			}
			if strings.ContainsAny(out.Why, "\n\r\x1b") || out.Verdict == outputs.VerdictNone {
				t.Fatalf("%+v", out)
			}
		}
		s := &timestream{amazon: z}
		if host, minutes, err := s.endpoint(body); err == nil && (!strings.HasSuffix(host, ".amazonaws.com") || strings.ContainsAny(host, "/@:?#\\ ") || minutes < 1 || minutes > 1440) {
			t.Fatalf("%q for %d minutes", host, minutes)
		}
	})
}

// What Timestream rejects is known by its version: one that is there, or newer, is delivered.
func TestTimestreamAnswers(t *testing.T) {
	s := &timestream{amazon: &amazon{}}
	rows := windows("j", "s", 3)
	for i := range rows {
		rows[i].Version.Set(0, 7)
	}
	record := func(index, version int) string {
		if version == 0 {
			return fmt.Sprintf(`{"RecordIndex":%d,"Reason":"too old"}`, index)
		}
		return fmt.Sprintf(`{"RecordIndex":%d,"Reason":"exists","ExistingVersion":%d}`, index, version)
	}
	for records, want := range map[string]string{
		record(0, 7): "1 []", record(2, 8): "1 []", record(0, 6): "5 [0]", record(2, 0) + "," + record(0, 9) + "," + record(1, 0): "5 [1 2]",
		record(3, 0): "5 []", record(1, 0) + "," + record(1, 0): "5 []", "": "5 []",
	} {
		out := s.judge(outputs.Batch{Rows: rows}, &answer{status: 419, header: http.Header{}, body: []byte(`{"__type":"RejectedRecordsException","RejectedRecords":[` + records + `]}`)})
		if got := fmt.Sprint(uint8(out.Verdict), " ", out.Rows); got != want {
			t.Errorf("%s: %s (%s), want %s", records, got, out.Why, want)
		}
	}
}

// A text for CloudWatch has what it takes, and texts that differ stay different.
func TestASCII(t *testing.T) {
	for in, want := range map[string]string{"home page": "home page", ":a:": "%3Aa:", " a ": "%20a%20", "é%\n": "%C3%A9%25%0A", " ": "%20", "": ""} {
		if got := asciiOf(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// A function that fails answers 200, and may have kept rows.
func TestLambdaAnswers(t *testing.T) {
	l := &lambda{amazon: &amazon{}}
	for head, want := range map[string]outputs.Verdict{"": outputs.VerdictDelivered, "Unhandled": outputs.VerdictUnclear, "Handled": outputs.VerdictUnclear} {
		if out := l.judge(outputs.Batch{Rows: windows("j", "s", 1)}, &answer{status: 200, header: http.Header{"X-Amz-Function-Error": {head}}}); out.Verdict != want {
			t.Errorf("%q: verdict %d, want %d", head, out.Verdict, want)
		}
	}
}

// What errors of Amazon mean: which are tried again, are of the credentials, or of the size.
func TestAmazonErrors(t *testing.T) {
	for name, want := range map[string]outputs.Verdict{
		"ThrottlingException": outputs.VerdictAgain, "com.amazonaws#Throttling": outputs.VerdictAgain, "TooManyRequestsException": outputs.VerdictAgain, "RequestLimitExceeded": outputs.VerdictAgain,
		"ServiceUnavailable": outputs.VerdictAgain, "InternalServerException": outputs.VerdictAgain, "InternalFailure": outputs.VerdictAgain,
		"ExpiredTokenException": outputs.VerdictDenied, "UnrecognizedClientException": outputs.VerdictDenied, "InvalidClientTokenId": outputs.VerdictDenied, "AccessDeniedException": outputs.VerdictDenied,
		"InvalidSignatureException": outputs.VerdictDenied, "SignatureDoesNotMatch": outputs.VerdictDenied, "MissingAuthenticationTokenException": outputs.VerdictDenied,
		"ResourceNotFoundException": outputs.VerdictRejected, "ValidationException": outputs.VerdictRejected,
		"RequestTooLargeException": outputs.VerdictSmaller, "RequestEntityTooLargeException": outputs.VerdictSmaller,
	} {
		a := &answer{status: 400, header: http.Header{}, body: []byte(`{"__type":"` + name + `","message":"m"}`)}
		said := amazonSaid(a)
		if out := amazonJudge(outputs.Batch{Rows: windows("j", "s", 2)}, a, &said); out.Verdict != want {
			t.Errorf("%s: verdict %d, want %d", name, out.Verdict, want)
		}
	}
	l := &lambda{amazon: &amazon{}}
	for _, name := range []string{"EC2ThrottledException", "EC2UnexpectedException", "ENILimitReachedException"} {
		if out := l.judge(outputs.Batch{Rows: windows("j", "s", 1)}, &answer{status: 400, header: http.Header{"X-Amzn-Errortype": {name + ":http://x"}}}); out.Verdict != outputs.VerdictAgain {
			t.Errorf("%s: verdict %d", name, out.Verdict)
		}
	}
}

// A metric without the kind of a step would add a function's calls and its requests up.
func TestCloudWatchWantsTheKindOfSteps(t *testing.T) {
	k := CloudWatch()
	for _, dimensions := range []string{"test", "test workflow step", ""} {
		s, err := outputs.Parse(&k, "Load,region=eu-west-1,dimensions="+dimensions)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Open(s); err == nil || !strings.Contains(err.Error(), "add kind") {
			t.Errorf("dimensions=%s: %v", dimensions, err)
		}
	}
}
