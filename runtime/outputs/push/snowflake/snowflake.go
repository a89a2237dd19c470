package snowflake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/push"
	"hyperscale/runtime/outputs/sign"
)

const (
	statementsPath = "/api/v2/statements"
	tokenLasts     = 10 * time.Minute // one hour is the most that Snowflake takes
	bindingMax     = 8 << 20          // bytes of a batch: a VARIANT, and a text, hold 16 MB
	runMax         = 10 * time.Minute // after it Snowflake stops a statement
	pollMin        = 50 * time.Millisecond
	pollMax        = 5 * time.Second
)

// Kind is the kind `snowflake`: one MERGE for each batch.
func Kind() outputs.Kind {
	return outputs.Kind{
		Name: "snowflake", Engine: "push", About: "Snowflake, by its SQL API: every row in one table, with its distribution, one MERGE a minute, during the run and at its end",
		Place: "URL", Example: "https://ORG-ACCOUNT.snowflakecomputing.com,user=LOADER,database=LOAD,schema=PUBLIC,warehouse=SMALL,key_file=rsa_key.p8",
		Options: []outputs.Option{
			{Name: "user", Help: "who has the public half of the key"},
			{Name: "key", Type: outputs.OptionSecret, Help: "private key of RSA in PEM, without a passphrase"},
			{Name: "account", Help: "ORG-ACCOUNT, or the account's locator; the first part of the address if it is not given"},
			{Name: "database", Help: "as Snowflake shows it: capital letters matter"},
			{Name: "schema", Default: "PUBLIC", Help: "the same"},
			{Name: "warehouse", Help: "the same; that of the user if it is not given"},
			{Name: "role", Help: "the same"},
			{Name: "table", Default: "hyperscale_rows", Help: "letters, digits and _"},
			{Name: "create", Type: outputs.OptionBool, Default: "true", Help: "create the table if it is not there; false: `hyperscale outputs schema snowflake` prints it"},
		},
		Delivery: outputs.Exact,
		Limits:   outputs.Limits{Rows: 5000, Bytes: 4 << 20, Age: time.Minute, Timeout: 2 * time.Minute, Parallel: 1},
		Tested:   "a double of ours that verifies tokens with golang-jwt 5.3.1 and reads the MERGE; no Snowflake",
		Schema:   tableSQL("hyperscale_rows") + ";\n",
		Open:     open,
	}
}

type sink struct {
	client        *push.Client
	base          url.URL
	account, user string
	key           outputs.Secret
	where         map[string]string // database, schema, warehouse, role
	table         string
	create        bool
}

func open(s *outputs.Settings) (outputs.Sink, error) {
	u, err := url.Parse(s.Place)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("place = %q is no address of an account: write %s", s.Place, s.Kind.Example)
	}
	k := &sink{client: push.NewClient(), base: url.URL{Scheme: u.Scheme, Host: u.Host}, key: s.Secret("key"), table: s.Text("table"), create: s.Bool("create"), where: map[string]string{}}
	if !isName(k.table) {
		return nil, fmt.Errorf("table = %q: write letters, digits and _; database and schema have options of their own", k.table)
	}
	if !k.key.Given() {
		return nil, errors.New("key: give key_file=FILE or key_env=VARIABLE with a private key of RSA")
	}
	k.account = s.Text("account")
	if k.account == "" {
		k.account, _, _ = strings.Cut(u.Hostname(), ".")
	}
	// A token names both in capital letters, and the account without its region.
	k.account = strings.ToUpper(strings.SplitN(k.account, ".", 2)[0])
	if k.user = strings.ToUpper(s.Text("user")); k.user == "" || strings.ContainsAny(k.user, " \t\"") {
		return nil, fmt.Errorf("user = %q: give user=NAME, without spaces and quotes", k.user)
	}
	for _, name := range []string{"database", "schema", "warehouse", "role"} {
		if v := s.Text(name); v != "" {
			k.where[name] = v
		}
	}
	if k.where["database"] == "" {
		return nil, errors.New("database: give database=NAME")
	}
	return k, nil
}

func isName(s string) bool {
	return s != "" && len(s) <= 255 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && strings.IndexByte("0123456789", s[0]) < 0
}

// Close implements outputs.Sink.
func (s *sink) Close() { s.client.Close() }

// Check implements outputs.Sink. It creates the table, and merges no row: that needs the warehouse, the table's columns and the right to
// write.
func (s *sink) Check(ctx context.Context) error {
	all := []string{mergeSQL(s.table)}
	if s.create {
		all = []string{tableSQL(s.table), all[0]}
	}
	for _, text := range all {
		var rows []byte
		if strings.HasPrefix(text, "MERGE") {
			rows = []byte("[]")
		}
		if out := s.run(ctx, outputs.Batch{}, text, rows, url.Values{}); out.Verdict != outputs.VerdictDelivered {
			return errors.New(out.Why)
		}
	}
	return nil
}

// Deliver implements outputs.Sink.
func (s *sink) Deliver(ctx context.Context, b outputs.Batch) outputs.Outcome {
	rows := arrayOf(b.Rows)
	if len(rows) > bindingMax {
		return push.TooLarge(b, fmt.Sprintf("the rows have %d bytes, and a statement takes %d", len(rows), bindingMax))
	}
	query := url.Values{"requestId": {requestID(b.Rows)}}
	if b.Try > 1 {
		query.Set("retry", "true")
	}
	return s.run(ctx, b, mergeSQL(s.table), rows, query)
}

// requestID is a UUID that follows from rows.
func requestID(rows []outputs.Row) string {
	sum := sha256.Sum256([]byte(push.Digest(rows)))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: of one's own making
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// token is a JWT for the next request. It reads the key anew, since keys rotate.
func (s *sink) token(now time.Time) (string, error) {
	text, err := s.key.Read()
	if err != nil {
		return "", err
	}
	key, err := sign.RSAKey(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.key, err)
	}
	print, err := sign.Fingerprint(key)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.key, err)
	}
	who := s.account + "." + s.user
	return sign.RS256(key, sign.HeadRS256(""), struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
		Issued  int64  `json:"iat"`
		Expires int64  `json:"exp"`
	}{who + "." + print, who, now.Unix(), now.Add(tokenLasts).Unix()})
}

// ask sends a request with a token.
func (s *sink) ask(ctx context.Context, method, path string, query url.Values, body []byte) (*push.Answer, *outputs.Outcome) {
	token, err := s.token(time.Now())
	if err != nil {
		return nil, new(outputs.Denied(err.Error()))
	}
	u := s.base
	u.Path, u.RawQuery = path, query.Encode()
	head := http.Header{"Authorization": {"Bearer " + token}, "X-Snowflake-Authorization-Token-Type": {"KEYPAIR_JWT"}, "Accept": {"application/json"}}
	if body != nil {
		head.Set("Content-Type", "application/json")
	}
	return s.client.Do(ctx, &push.Request{Method: method, URL: u.String(), Header: head, Body: body, Hide: []string{token}})
}

// run runs a statement, with rows as its binding, and waits for its end.
func (s *sink) run(ctx context.Context, b outputs.Batch, text string, rows []byte, query url.Values) outputs.Outcome {
	in := map[string]any{"statement": text, "timeout": int(runMax.Seconds())}
	for name, v := range s.where { //lint:orderfree it fills a map
		in[name] = v
	}
	if rows != nil {
		in["bindings"] = map[string]any{"1": map[string]string{"type": "TEXT", "value": string(rows)}}
	}
	body, err := json.Marshal(in)
	if err != nil {
		return outputs.Rejected(nil, err.Error())
	}
	a, failed := s.ask(ctx, http.MethodPost, statementsPath, query, body)
	for pause := pollMin; failed == nil && a.Status == http.StatusAccepted; pause = min(2*pause, pollMax) {
		handle := parseAnswer(a).Handle
		if !isHandle(handle) {
			return outputs.Unclear("the service answers no statement")
		}
		select {
		case <-ctx.Done():
			return outputs.Unclear("statement " + handle + " still runs")
		case <-time.After(pause):
		}
		a, failed = s.ask(ctx, http.MethodGet, statementsPath+"/"+handle, nil, nil)
	}
	if failed != nil {
		return *failed
	}
	return judge(b, a)
}

// said is what Snowflake says of a statement.
type said struct {
	Code     string
	Message  string
	SQLState string `json:"sqlState"`
	Handle   string `json:"statementHandle"`
}

func parseAnswer(a *push.Answer) (out said) {
	if json.Unmarshal(a.Body, &out) != nil {
		return said{}
	}
	return out
}

// isHandle says that a text may be a part of an address.
func isHandle(s string) bool {
	return s != "" && len(s) <= 100 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// stopped are codes of statements that Snowflake stopped, and may run later: cancelled, out of time, a lock, a warehouse that cannot start.
var stopped = []string{"000604", "000625", "000630", "000707", "000709", "003030"}

// passing are classes of SQLSTATE that say nothing of a statement and its rows: connections, conflicts, resources, operators, the system, and
// errors of Snowflake itself. Snowflake lists no codes, so those that are not named here go by their class.
var passing = []string{"08", "40", "53", "57", "58", "XX"}

// judge says what an answer that is an end means. A MERGE is there whole, or not at all.
func judge(b outputs.Batch, a *push.Answer) outputs.Outcome {
	s := parseAnswer(a)
	if a.Status/100 != 2 && s.Code != "" {
		a.Body = []byte(s.Code + ": " + s.Message)
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		return outputs.Denied(a.Text() + ": correct user= and account=, give the user the public half of this key, and set the clock of this machine")
	case a.Status == http.StatusRequestTimeout || slices.Contains(stopped, s.Code):
		return outputs.Again(a.After(), a.Text())
	case a.Status == http.StatusUnprocessableEntity && s.Code == "003001":
		return outputs.Denied(a.Text() + ": grant the role the rights on the table, or give role=NAME")
	case a.Status == http.StatusUnprocessableEntity && s.Code == "000606":
		return outputs.Rejected(nil, a.Text()+": give warehouse=NAME")
	case a.Status == http.StatusUnprocessableEntity && slices.ContainsFunc(passing, func(class string) bool { return strings.HasPrefix(s.SQLState, class) }):
		return outputs.Again(a.After(), a.Text())
	case a.Status == http.StatusUnprocessableEntity && strings.HasPrefix(s.Code, "00"):
		return outputs.Rejected(nil, a.Text()+": create the database and schema, and the table as `hyperscale outputs schema snowflake` prints it")
	case a.Status == http.StatusUnprocessableEntity:
		return push.Alone(b, outputs.Rejected(nil, a.Text()))
	}
	return push.Standard(b, a)
}
