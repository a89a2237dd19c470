package kinds_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/outputs/push"
)

func init() {
	places["netdata"], places["telegraf"] = newSocket, newTelegraf
}

// newTelegraf is InfluxDB in Telegraf's place: it reads the same lines, with nanoseconds by default.
func newTelegraf(t *testing.T) outputstest.Place { return influxPlace(t, "/write?db=load") }

// listener is a double of socket_listener: it reads lines until the end of a connection.
type listener struct {
	*outputstest.Stream
	mu   sync.Mutex
	rows map[string]int
}

var telegrafLine = regexp.MustCompile(`^hyperscale_([a-z]+),run=([^,]+),.* (\d{19})$`)

func (l *listener) take(batch []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(batch)) {
		m := telegrafLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			l.rows["bad "+line]++
			continue
		}
		begun := ""
		if _, rest, ok := strings.Cut(line, "begun="); ok {
			begun, _, _ = strings.Cut(rest, "i")
		}
		l.rows[strings.Join([]string{m[2], m[1], begun, m[3]}, "|")]++
	}
}

func (l *listener) Name() string { return "tcp://" + l.Address() }

func (l *listener) Key(r *outputs.Row) string {
	begun := ""
	if r.Figures != nil {
		begun = fmt.Sprint(r.Figures.Begun)
	}
	return strings.Join([]string{r.Kind.String(), begun, fmt.Sprint(r.At().UnixNano())}, "|")
}

func (l *listener) Stored(job string) (map[string]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]int{}
	for key, n := range l.rows {
		if strings.HasPrefix(key, "bad ") {
			return nil, fmt.Errorf("%s", key)
		}
		if rest, ok := strings.CutPrefix(key, job+"|"); ok {
			all[rest] = n
		}
	}
	return all, nil
}

func TestTelegrafOverTCP(t *testing.T) {
	l := &listener{rows: map[string]int{}}
	l.Stream = outputstest.NewStream(l.take)
	t.Cleanup(l.Close)
	outputstest.Cruelty(t, push.Telegraf(), l)
}

// Telegraf gets the name and the password that its listener wants, and a person reads what it answers.
func TestTelegrafSaysWhatIsWrong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := r.BasicAuth(); r.URL.Path == "/telegraf" && (name != "me" || password != "pass word") {
			http.Error(w, "Unauthorized hush-hush.", http.StatusUnauthorized)
		} else if r.URL.Path != "/telegraf" {
			w.WriteHeader(http.StatusNotFound)
		} else {
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("TG_PASSWORD", "pass word")
	t.Setenv("WRONG_PASSWORD", "hush-hush")
	if err := open(t, push.Telegraf(), server.URL+",user=me,password_env=TG_PASSWORD").Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	saysWhatIsWrong(t, push.Telegraf(), map[string]string{
		server.URL + ",user=me,password_env=WRONG_PASSWORD": "correct the credentials",
		server.URL + "/no,user=me,password_env=TG_PASSWORD": "correct database=, bucket= and the address",
		server.URL + ",user=me":                             "password_file=FILE",
		"tcp://127.0.0.1:1":                                 "it cannot be reached",
		"tcp://127.0.0.1":                                   "is no address",
		"tcp://h:1,user=me,password_env=TG_PASSWORD":        "a socket knows no users",
		"udp://127.0.0.1:8094":                              "is no address",
	})
}
