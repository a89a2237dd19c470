package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/compile"
	"hyperscale/runtime/api/tokens"
	"hyperscale/runtime/host"
)

// TestMain is the compiler's child, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == compile.Command {
		if err := compile.Main(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// gates stands for the client and the gates behind it: it answers each command by a function, and a watch with what the
// test tells.
type gates struct {
	mu      sync.Mutex
	answers map[node.Kind]func(node.Message) node.Message
	asked   []node.Message
	watches chan watch
}

// watch is one that a test answers, from the loop's goroutine.
type watch struct {
	id  node.CommandID
	env node.Env
}

// told is a message of a test for the machine: it comes as a command, as all inputs of a test do.
func (g *gates) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStop:
		env.Halt("")
	case node.InputCommand:
		g.command(env, in)
	}
}

func (g *gates) command(env node.Env, in *node.Input) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, in.Message)
	if answer := g.answers[in.Message.Kind()]; answer != nil {
		if m := answer(in.Message); m != nil {
			env.Answer(in.Command, m)
		}
		return
	}
	if in.Message.Kind() == message.KindJobWatch {
		g.watches <- watch{in.Command, env}
	}
}

// server is the API under test, with its tokens by role.
type server struct {
	t      *testing.T
	api    *Server
	gates  *gates
	tokens map[node.Right]string
	log    *safe
	file   string
	schema map[string]any
}

// safe is a log that many goroutines write.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t *testing.T, change ...func(*Config)) *server {
	t.Helper()
	s := &server{t: t, tokens: map[node.Right]string{}, log: new(safe), file: filepath.Join(t.TempDir(), "api.tokens")}
	for _, right := range []node.Right{node.RightView, node.RightSubmit, node.RightOperate} {
		text, token, err := tokens.New("a-"+right.String(), right, time.Time{})
		require.NoError(t, err)
		require.NoError(t, tokens.Add(s.file, token))
		s.tokens[right] = text
	}
	known, err := tokens.Open(s.file, time.Now, nil)
	require.NoError(t, err)
	s.gates = &gates{answers: map[node.Kind]func(node.Message) node.Message{}, watches: make(chan watch, 16)}
	client, err := host.Start(host.Options{Role: node.RoleClient, ID: "gate-1-api", Cluster: "c", Environment: "e", Machine: s.gates})
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	c := Config{Compiler: compile.New([]string{self, compile.Command}), Listen: "127.0.0.1:0", Tokens: known, Client: client, Logger: slog.New(slog.NewTextHandler(s.log, nil))}
	for _, f := range change {
		f(&c)
	}
	s.api, err = Serve(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		http.DefaultClient.CloseIdleConnections() // the server waits for those that it has read nothing from
		s.api.Close(ctx)
		require.NoError(t, client.Stop(ctx))
		http.DefaultClient.CloseIdleConnections()
	})
	b, err := json.Marshal(Describe())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &s.schema))
	return s
}

// answer makes the gates answer a kind of question.
func (s *server) answer(k node.Kind, f func(node.Message) node.Message) {
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	s.gates.answers[k] = f
}

// reply is what the API answered.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request with the token of a role, and holds the answer against openapi.json.
func (s *server) call(right node.Right, method, path, body string, header ...string) reply {
	s.t.Helper()
	header = append([]string{"Authorization", "Bearer " + s.tokens[right]}, header...)
	return s.send(method, path, body, header...)
}

func (s *server) send(method, path, body string, header ...string) reply {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.api.Addr()+path, strings.NewReader(body))
	require.NoError(s.t, err)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer func() { _ = w.Body.Close() }()
	b, err := io.ReadAll(w.Body)
	require.NoError(s.t, err)
	s.judge(method, path, w, b)
	return reply{w.StatusCode, w.Header, b}
}

// fault reads the error of a reply.
func (r *reply) fault(t *testing.T) Fault {
	t.Helper()
	var f Failure
	require.NoError(t, json.Unmarshal(r.body, &f), "%s", r.body)
	return f.Error
}

// tell answers a watch from the test.
func (w watch) tell(all ...node.Message) {
	for _, m := range all {
		w.env.Answer(w.id, m)
	}
}

// fill makes so many places of a room taken, by no token.
func fill(r *room, taken int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = taken
}
