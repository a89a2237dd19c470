package push

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/sign"
)

// webhookMax bounds a body: many servers of others' hooks take 1 MiB.
const webhookMax = 1 << 20

// Webhook is the kind `webhook`: rows as JSON, in a POST to an address of the user.
func Webhook() outputs.Kind {
	return outputs.Kind{
		Name: "webhook", Engine: "push", About: "a server of yours: rows as JSON in the body of a POST, during the run and at its end",
		Place: "URL", Example: "https://hooks.example.com/hyperscale,key_file=hook.key",
		Options: []outputs.Option{
			{Name: "key", Type: outputs.OptionSecret, Help: "signs each body: X-Hyperscale-Signature is t=SECONDS,v1=HMAC-SHA256 of SECONDS.BODY in hexadecimal"},
			{Name: "token", Type: outputs.OptionSecret, Help: "goes into Authorization: Bearer"},
		},
		Delivery: outputs.AtLeastOnce,
		Limits:   outputs.Limits{Rows: 200, Bytes: 256 << 10},
		Tested:   "a server of ours that verifies signatures with openssl",
		Open:     openWebhook,
	}
}

type webhook struct {
	url        string
	key, token outputs.Secret
}

func openWebhook(s *outputs.Settings) (outputs.Sink, error) {
	u, err := addressOf(s, "/")
	if err != nil {
		return nil, err
	}
	return newSink(&webhook{url: u.String(), key: s.Secret("key"), token: s.Secret("token")}), nil
}

// probes posts a body without rows, so that a server can reject a wrong signature before the run.
func (w *webhook) probes() ([]*call, error) { return []*call{w.call(nil)}, nil }

func (w *webhook) encode(b outputs.Batch) (*call, error) { return w.call(b.Rows), nil }

func (w *webhook) call(rows []outputs.Row) *call {
	return &call{method: http.MethodPost, url: w.url, body: envelope(rows), most: webhookMax, sign: w.sign, header: http.Header{"Content-Type": {"application/json"}}}
}

// envelope is a body of rows as JSON.
func envelope(rows []outputs.Row) []byte {
	var body bytes.Buffer
	body.WriteString(`{"schema":"hyperscale.rows/1","rows":[`)
	for i := range rows {
		if i > 0 {
			body.WriteByte(',')
		}
		body.Write(outputs.AppendJSON(nil, &rows[i]))
	}
	body.WriteString("]}")
	return body.Bytes()
}

func (w *webhook) sign(r *http.Request, body []byte) (hide []string, err error) {
	if w.key.Given() {
		key, err := w.key.Read()
		if err != nil {
			return nil, err
		}
		seconds := strconv.FormatInt(time.Now().Unix(), 10)
		r.Header.Set("X-Hyperscale-Signature", "t="+seconds+",v1="+sign.Webhook(key, seconds, body))
		hide = append(hide, key)
	}
	return bearer(r, w.token, hide)
}

// bearer adds a token, if one is given.
func bearer(r *http.Request, from outputs.Secret, hide []string) ([]string, error) {
	if !from.Given() {
		return hide, nil
	}
	token, err := readHead(from)
	if err != nil {
		return hide, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	return append(hide, token), nil
}

// readHead reads a secret that goes into a head, which takes no line ends and no control characters.
func readHead(from outputs.Secret) (string, error) {
	secret, err := from.Read()
	if err != nil {
		return "", err
	}
	for _, c := range []byte(secret) {
		if c < ' ' || c == 0x7f {
			return "", errors.New(from.String() + ": it has a line end or a control character: put the secret alone there")
		}
	}
	return secret, nil
}

func (w *webhook) judge(b outputs.Batch, a *answer) outputs.Outcome { return standard(b, a) }
