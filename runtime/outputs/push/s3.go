package push

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/sign"
)

// S3 is the kind `s3`: an object of compressed lines of JSON for each batch. The name of an object is the key of its rows,
// so a repeated batch writes the same object again.
func S3() outputs.Kind {
	return outputs.Kind{
		Name: "s3", Engine: "push", About: "Amazon S3, MinIO and what has their API: an object of lines of JSON, compressed by gzip, for each batch",
		Place: "s3://BUCKET/PREFIX", Example: "s3://results/load,region=eu-west-1",
		Options: append(awsOptions(),
			outputs.Option{Name: "endpoint", Help: "address of a service other than Amazon's, as in http://127.0.0.1:9000; the bucket is in the path then"}),
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 5000, Bytes: 4 << 20, Age: 30 * time.Second, Timeout: 30 * time.Second, Parallel: 1},
		Tested:   "a double of ours that verifies signatures with aws-sdk-go-v2 1.48.0, and that its S3 client 1.114.10 accepts",
		Open:     openS3,
	}
}

// awsOptions are those of each kind of Amazon's services.
func awsOptions() []outputs.Option {
	return []outputs.Option{
		{Name: "region", Help: "of the service; AWS_REGION if it is not given"},
		{Name: "access_key", Help: "id of the access key; AWS_ACCESS_KEY_ID if it is not given"},
		{Name: "secret_key", Type: outputs.OptionSecret, Help: "its secret; AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN, if access_key is not given"},
	}
}

// aws signs requests to one of Amazon's services.
type aws struct {
	service, region, key string
	secret               outputs.Secret
}

func newAWS(s *outputs.Settings, service string) (*aws, error) {
	a := &aws{service: service, region: s.Text("region"), key: s.Text("access_key"), secret: s.Secret("secret_key")}
	if a.region == "" {
		a.region = os.Getenv("AWS_REGION")
	}
	if a.region == "" || strings.Trim(a.region, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, fmt.Errorf("region = %q: give region=NAME, as in region=eu-west-1, or set AWS_REGION", a.region)
	}
	if (a.key == "") == a.secret.Given() {
		return nil, errors.New("access_key and secret_key: give access_key=ID and secret_key_file=FILE or secret_key_env=VARIABLE, or none of them")
	}
	return a, nil
}

// sign reads the credentials anew: those of a session are replaced every few hours.
func (a *aws) sign(r *http.Request, body []byte) ([]string, error) {
	c := sign.AWS{Key: a.key, Region: a.region, Service: a.service}
	if a.key == "" {
		c.Key, c.Secret, c.Token = os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")
		if c.Key == "" || c.Secret == "" {
			return nil, errors.New("there are no credentials: give access_key=ID and secret_key_file=FILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
	} else {
		var err error
		if c.Secret, err = a.secret.Read(); err != nil {
			return nil, err
		}
	}
	c.Sign(r, body, time.Now())
	return []string{c.Secret, c.Token}, nil
}

type s3 struct {
	aws  *aws
	base url.URL // with the bucket; its path ends with a slash
}

func openS3(s *outputs.Settings) (outputs.Sink, error) {
	rest, ok := strings.CutPrefix(s.Place, "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || bucket == "" || strings.Trim(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return nil, fmt.Errorf("place = %q: write s3://BUCKET/PREFIX, as in %s", s.Place, s.Kind.Example)
	}
	a, err := newAWS(s, "s3")
	if err != nil {
		return nil, err
	}
	out := &s3{aws: a, base: url.URL{Scheme: "https", Host: bucket + ".s3." + a.region + ".amazonaws.com", Path: "/"}}
	u, err := endpointOf(s)
	if err != nil {
		return nil, err
	}
	if u != nil {
		out.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + bucket + "/"}
	}
	if prefix = strings.Trim(path.Clean("/"+prefix), "/"); prefix != "" {
		out.base.Path += prefix + "/"
	}
	return newSink(out), nil
}

// probes writes a small object with a name of its own: the right to write is what matters, and no other call needs it.
func (s *s3) probes() ([]*call, error) {
	return []*call{s.put("hyperscale-check.txt", []byte("hyperscale can write here\n"), "text/plain")}, nil
}

func (s *s3) encode(b outputs.Batch) (*call, error) {
	body, err := zippedLines(b.Rows)
	if err != nil {
		return nil, err
	}
	return s.put(objectName(b.Rows), body, "application/gzip"), nil
}

func (s *s3) put(name string, body []byte, kind string) *call {
	u := s.base
	u.Path += name
	u.RawPath = sign.EscapePath(u.Path)
	return &call{method: http.MethodPut, url: u.String(), body: body, sign: s.aws.sign, header: http.Header{"Content-Type": {kind}}}
}

// zippedLines are rows as lines of JSON, compressed. The same rows have the same bytes.
func zippedLines(rows []outputs.Row) ([]byte, error) {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	var err error
	for i := range rows {
		_, failed := w.Write(append(outputs.AppendJSON(nil, &rows[i]), '\n'))
		err = errors.Join(err, failed)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress rows: %w", err)
	}
	return body.Bytes(), nil
}

// objectName follows from the keys and versions of rows: JOB/FROM-TO-DIGEST.jsonl.gz, in milliseconds of the job. Names
// sort by time up to 27 hours.
func objectName(rows []outputs.Row) string {
	from, to := rows[0].From, rows[0].To
	for i := range rows {
		from, to = min(from, rows[i].From), max(to, rows[i].To)
	}
	return fmt.Sprintf("%s/%08d-%08d-%s.jsonl.gz", url.PathEscape(rows[0].Job), from.Milliseconds(), to.Milliseconds(), digestOf(rows))
}

// judge: an answer that is an error names its code.
func (s *s3) judge(b outputs.Batch, a *answer) outputs.Outcome {
	var said struct {
		Code    string
		Message string
	}
	if a.status/100 != 2 && xml.Unmarshal(a.body, &said) == nil && said.Code != "" {
		a.body = []byte(said.Code + ": " + said.Message)
	}
	switch said.Code {
	case "RequestTimeout", "RequestTimeTooSkewed", "OperationAborted":
		return outputs.Again(a.after(time.Now()), a.text())
	case "ExpiredToken", "InvalidToken":
		return outputs.Denied(a.text() + ": give fresh credentials")
	case "EntityTooLarge":
		return tooLarge(b, a.text())
	case "NoSuchBucket":
		return outputs.Rejected(nil, a.text()+": create the bucket, or correct its name")
	case "PermanentRedirect", "AuthorizationHeaderMalformed":
		return outputs.Rejected(nil, a.text()+": the bucket is in another region: correct region=")
	}
	return standard(b, a)
}
