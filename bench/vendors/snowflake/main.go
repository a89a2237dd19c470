// Command snowflake is a double of Snowflake's SQL API for tests. It verifies tokens with golang-jwt, and the fingerprint in
// them by itself. It knows CREATE TABLE and a MERGE of an array of JSON, which it reads and runs: columns, the order of
// versions and the condition are those of the statement. Each third statement is answered with 202. Its second address is a
// page: /key is the private key of LOADER, /rows what the tables have, /runs how many statements ran, /fails?codes=C,C lets the
// next ones fail.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const who = "ORG-ACCOUNT.LOADER"

type row map[string]any

type table struct {
	columns []string
	rows    []row
}

type ended struct {
	status int
	code   string
	text   string
	polls  int // until it is told
}

type double struct {
	key    *rsa.PrivateKey
	print  string
	mu     sync.Mutex
	tables map[string]*table
	asked  map[string]string // handle by request id
	ends   map[string]*ended // by handle
	runs   int
	fails  []string
}

func fail(w http.ResponseWriter, status int, code, text, handle string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "message": text, "statementHandle": handle, "sqlState": "00000"})
}

// verify judges the token.
func (d *double) verify(r *http.Request) error {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || r.Header.Get("X-Snowflake-Authorization-Token-Type") != "KEYPAIR_JWT" || r.Header.Get("User-Agent") == "" {
		return fmt.Errorf("no token of a key pair")
	}
	var claims jwt.RegisteredClaims
	if _, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return &d.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(who+"."+d.print), jwt.WithSubject(who), jwt.WithExpirationRequired(), jwt.WithIssuedAt()); err != nil {
		return err
	}
	if claims.IssuedAt == nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > time.Hour {
		return fmt.Errorf("it lasts longer than an hour")
	}
	return nil
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := d.verify(r); err != nil {
		fail(w, http.StatusUnauthorized, "390144", "JWT token is invalid.", "")
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	handle, polls := strings.CutPrefix(r.URL.Path, "/api/v2/statements/")
	switch {
	case polls && r.Method == http.MethodGet:
	case r.URL.Path == "/api/v2/statements" && r.Method == http.MethodPost:
		id := r.FormValue("requestId")
		if handle = d.asked[id]; id == "" || handle == "" || r.FormValue("retry") != "true" || d.ends[handle].status != http.StatusOK {
			var in struct {
				Statement, Database, Schema, Warehouse, Role string
				Bindings                                     map[string]struct{ Type, Value string }
			}
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				fail(w, http.StatusBadRequest, "391902", err.Error(), "")
				return
			}
			d.runs++
			handle = fmt.Sprintf("01b2c3d4-0000-0000-0000-%012d", d.runs)
			e := &ended{status: http.StatusOK, code: "090001", text: "Statement executed successfully."}
			if code, text := d.run(in.Database, in.Statement, in.Bindings["1"].Value); code != "" {
				e.status, e.code, e.text = http.StatusUnprocessableEntity, code, text
			}
			if d.runs%3 == 0 {
				e.polls = 2
			}
			d.ends[handle], d.asked[id] = e, handle
		}
	default:
		fail(w, http.StatusNotFound, "390404", "no such operation", "")
		return
	}
	e := d.ends[handle]
	switch {
	case e == nil:
		fail(w, http.StatusNotFound, "000709", "Statement not found", handle)
	case e.polls > 0:
		e.polls--
		fail(w, http.StatusAccepted, "333334", "Asynchronous execution in progress.", handle)
	default:
		fail(w, e.status, e.code, e.text, handle)
	}
}

var (
	create = regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS (\w+) \((.*)\)$`)
	merge  = regexp.MustCompile(`^MERGE INTO (\w+) t USING \(SELECT (.*) FROM TABLE\(FLATTEN\(INPUT => PARSE_JSON\(\?\)\)\)` +
		` QUALIFY ROW_NUMBER\(\) OVER \(PARTITION BY value:(\w+)::VARCHAR ORDER BY value:(\w+)::VARCHAR (ASC|DESC)\) = 1\) s ON t\.(\w+) = s\.(\w+)` +
		` WHEN MATCHED AND s\.(\w+) (>|<|=|>=) t\.(\w+) THEN UPDATE SET (.*) WHEN NOT MATCHED THEN INSERT \((.*)\) VALUES \((.*)\)$`)
	picked = regexp.MustCompile(`^value(?::(\w+)::(VARCHAR|TIMESTAMP_TZ|NUMBER\(38,0\)))? AS (\w+)$`)
)

// run runs a statement, and returns a code and a text if it fails.
func (d *double) run(database, text, binding string) (code, why string) {
	if len(d.fails) > 0 {
		code, d.fails = d.fails[0], d.fails[1:]
		return code, "the double says so"
	}
	if database != "LOAD" {
		return "002043", "Object does not exist, or operation cannot be performed."
	}
	if m := create.FindStringSubmatch(text); m != nil {
		if d.tables[m[1]] == nil {
			t := &table{}
			for line := range strings.Lines(m[2]) {
				if words := strings.Fields(line); len(words) > 1 && words[0] != "PRIMARY" {
					t.columns = append(t.columns, words[0])
				}
			}
			d.tables[m[1]] = t
		}
		return "", ""
	}
	m := merge.FindStringSubmatch(text)
	if m == nil {
		return "001003", "SQL compilation error: syntax error in " + text
	}
	t := d.tables[m[1]]
	if t == nil {
		return "002003", "SQL compilation error: Object '" + m[1] + "' does not exist or not authorized."
	}
	return t.merge(m, binding)
}

func (t *table) has(column string) bool {
	for _, c := range t.columns {
		if c == column {
			return true
		}
	}
	return false
}

// merge runs the MERGE whose parts are m: all rows or none.
func (t *table) merge(m []string, binding string) (code, why string) {
	var elements []map[string]any
	d := json.NewDecoder(strings.NewReader(binding))
	d.UseNumber()
	if len(binding) > 16<<20 || d.Decode(&elements) != nil {
		return "100069", "Error parsing JSON"
	}
	newest := map[string]row{}
	var order []string
	for _, e := range elements {
		from := row{}
		for _, item := range strings.Split(strings.ReplaceAll(m[2], "NUMBER(38,0)", "NUMBER(38;0)"), ", ") {
			p := picked.FindStringSubmatch(strings.ReplaceAll(item, ";", ","))
			if p == nil {
				return "001003", "SQL compilation error: " + item
			}
			v, err := value(e, p[1], p[2])
			if err != nil {
				return "100038", err.Error()
			}
			from[p[3]] = v
		}
		of, version := fmt.Sprint(e[m[3]]), fmt.Sprint(e[m[4]])
		was, there := newest[of]
		if !there {
			order = append(order, of)
		}
		if !there || (version > fmt.Sprint(was["version"])) == (m[5] == "DESC") {
			newest[of] = from
		}
	}
	for _, of := range order {
		if code, why := t.one(m, newest[of]); code != "" {
			return code, why
		}
	}
	return "", ""
}

// value is a part of an element, cast.
func value(e map[string]any, path, kind string) (any, error) {
	if path == "" {
		return e, nil
	}
	v, ok := e[path]
	if !ok || v == nil {
		return nil, nil
	}
	switch _, number := v.(json.Number); {
	case kind == "NUMBER(38,0)" && !number:
		return nil, fmt.Errorf("Failed to cast variant value %v to FIXED", v)
	case kind == "TIMESTAMP_TZ":
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(v)); err != nil {
			return nil, fmt.Errorf("Failed to cast variant value %v to TIMESTAMP_TZ", v)
		}
	}
	return v, nil
}

func (t *table) one(m []string, s row) (code, why string) {
	if m[6] != m[7] || !t.has(m[6]) || m[8] != m[10] || !t.has(m[8]) {
		return "000904", "SQL compilation error: invalid identifier " + m[6]
	}
	for _, r := range t.rows {
		if r[m[6]] != s[m[7]] {
			continue
		}
		a, b := fmt.Sprint(s[m[8]]), fmt.Sprint(r[m[10]])
		if m[9] == ">" && a <= b || m[9] == "<" && a >= b || m[9] == "=" && a != b || m[9] == ">=" && a < b {
			return "", ""
		}
		for _, set := range strings.Split(m[11], ", ") {
			to, from, _ := strings.Cut(set, " = ")
			to, from = strings.TrimPrefix(to, "t."), strings.TrimPrefix(from, "s.")
			if _, ok := s[from]; !ok || !t.has(to) {
				return "000904", "SQL compilation error: invalid identifier " + set
			}
			r[to] = s[from]
		}
		return "", ""
	}
	into, from := strings.Split(m[12], ", "), strings.Split(m[13], ", ")
	if len(into) != len(from) {
		return "001003", "SQL compilation error"
	}
	r := row{}
	for i := range into {
		v, ok := s[strings.TrimPrefix(from[i], "s.")]
		if !ok || !t.has(into[i]) {
			return "000904", "SQL compilation error: invalid identifier " + into[i]
		}
		r[into[i]] = v
	}
	t.rows = append(t.rows, r)
	return "", ""
}

func (d *double) page(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.URL.Path {
	case "/key":
		der, err := x509.MarshalPKCS8PrivateKey(d.key)
		if err != nil {
			log.Fatal(err)
		}
		_ = pem.Encode(w, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	case "/rows":
		all := []row{}
		for _, t := range d.tables {
			all = append(all, t.rows...)
		}
		_ = json.NewEncoder(w).Encode(all)
	case "/runs":
		fmt.Fprint(w, d.runs)
	case "/fails":
		d.fails = strings.Split(r.FormValue("codes"), ",")
	default:
		http.NotFound(w, r)
	}
}

func main() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		log.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(der)
	d := &double{key: key, print: "SHA256:" + base64.StdEncoding.EncodeToString(sum[:]), tables: map[string]*table{}, asked: map[string]string{}, ends: map[string]*ended{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	page, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(l, d)) }()
	fmt.Println(l.Addr(), page.Addr())
	log.Fatal(http.Serve(page, http.HandlerFunc(d.page)))
}
