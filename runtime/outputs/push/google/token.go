package google

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
)

const (
	metadataHost = "metadata.google.internal"
	renewal      = 5 * time.Minute // before its end a token is fetched anew
	tokenMax     = 8 << 10         // bytes of a token
)

// keyOption is that of each kind of Google's services.
func keyOption() outputs.Option {
	return outputs.Option{Name: "key", Type: outputs.OptionSecret, Help: "key file of a service account, as JSON; GOOGLE_APPLICATION_CREDENTIALS names it if it is not given, else the metadata server of the machine is asked"}
}

// tokens are access tokens for one scope. It keeps one until shortly before its end, or until a service rejects it.
type tokens struct {
	client *push.Client
	key    outputs.Secret
	scope  string

	mu    sync.Mutex
	token string
	until time.Time
}

func newTokens(c *push.Client, s *outputs.Settings, scope string) *tokens {
	return &tokens{client: c, key: s.Secret("key"), scope: scope}
}

// get is a token. An outcome says why there is none: Denied, if the credentials are wrong.
func (t *tokens) get(ctx context.Context) (string, *outputs.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Now().Before(t.until) {
		return t.token, nil
	}
	r, err := t.request(time.Now())
	if err != nil {
		return "", new(outputs.Denied(err.Error()))
	}
	asked := time.Now()
	a, failed := t.client.Do(ctx, r)
	if failed != nil {
		if failed.Verdict == outputs.VerdictUnclear {
			failed = new(outputs.Again(0, failed.Why)) // no row was in the request
		}
		failed.Why = "no access token: " + failed.Why
		return "", failed
	}
	if a.Status/100 != 2 {
		return "", new(refused(a))
	}
	token, lasts, err := parseToken(a.Body)
	if err != nil {
		return "", new(outputs.Again(0, "no access token: "+err.Error()))
	}
	t.token, t.until = token, asked.Add(lasts-min(renewal, lasts/4))
	return token, nil
}

// refused is what an answer without a token means.
func refused(a *push.Answer) outputs.Outcome {
	switch {
	case a.Status == http.StatusTooManyRequests || a.Status/100 == 5:
		return outputs.Again(a.After(), "no access token: "+a.Text())
	case a.Status == http.StatusNotFound:
		return outputs.Denied("no access token: " + a.Text() + ": give the machine a service account, or key_file=FILE")
	}
	return outputs.Denied("no access token: " + a.Text() + ": give the key file of a service account that is enabled, and set the clock of this machine")
}

// forget drops a token that a service rejects: the next request fetches another one.
func (t *tokens) forget(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

// request asks for a token. It reads the key file anew, since keys rotate.
func (t *tokens) request(now time.Time) (*push.Request, error) {
	var text []byte
	switch file := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); {
	case t.key.Given():
		s, err := t.key.Read()
		if err != nil {
			return nil, err
		}
		text = []byte(s)
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS: %w: name a file that this user may read", err)
		}
		text = b
	default:
		return metadata(t.scope), nil
	}
	a, err := parseAccount(text)
	if err != nil {
		return nil, fmt.Errorf("the key file: %w", err)
	}
	body, err := a.grant(t.scope, now)
	if err != nil {
		return nil, err
	}
	return &push.Request{Method: http.MethodPost, URL: a.tokenURL, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(body), Hide: secretsOf(body)}, nil
}

// secretsOf are what no text repeats of a body that asks for a token: the body, and the token in it by which the account asks.
func secretsOf(body string) []string {
	in, err := url.ParseQuery(body)
	if err != nil {
		return []string{body}
	}
	return []string{body, in.Get("assertion")}
}

// metadata asks the server that each machine of Google's has.
func metadata(scope string) *push.Request {
	host := os.Getenv("GCE_METADATA_HOST")
	if host == "" {
		host = metadataHost
	}
	u := url.URL{Scheme: "http", Host: host, Path: "/computeMetadata/v1/instance/service-accounts/default/token", RawQuery: url.Values{"scopes": {scope}}.Encode()}
	return &push.Request{Method: http.MethodGet, URL: u.String(), Header: http.Header{"Metadata-Flavor": {"Google"}}}
}

// parseToken reads what a token's server answers. Its error has nothing of it.
func parseToken(body []byte) (token string, lasts time.Duration, err error) {
	var in struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Seconds int64  `json:"expires_in"`
	}
	if json.Unmarshal(body, &in) != nil || !strings.EqualFold(in.Type, "Bearer") {
		return "", 0, fmt.Errorf("the server of tokens answers no token of type Bearer")
	}
	if in.Token == "" || len(in.Token) > tokenMax || strings.ContainsFunc(in.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", 0, fmt.Errorf("the server of tokens answers a token that no head can have")
	}
	return in.Token, time.Duration(min(max(in.Seconds, 0), 24*3600)) * time.Second, nil
}

// do sends a request with a token. A token that the service rejects is forgotten.
func (t *tokens) do(ctx context.Context, r *push.Request) (*push.Answer, *outputs.Outcome) {
	token, failed := t.get(ctx)
	if failed != nil {
		return nil, failed
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Hide = append(r.Hide, token)
	a, failed := t.client.Do(ctx, r)
	if failed == nil && a.Status == http.StatusUnauthorized {
		t.forget(token)
	}
	return a, failed
}
