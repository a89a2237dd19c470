package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"hyperscale/core/client"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/host"
)

// Bounds of what a command waits for.
const (
	reachMax  = 10 * time.Second // a stream to any gate
	retryMax  = 5 * time.Second  // an answer of one gate, before another is asked
	answerMax = 90 * time.Second // an answer of any: three leases of a job, whose owner may be lost
	newsMax   = 90 * time.Second // a status of a job that is watched; one comes every half second
	cancelMax = 60 * time.Second // a cancelled job's end
	stopMax   = 5 * time.Second  // a client's own end
)

// session is a command's connection to a cluster.
type session struct {
	node    *host.Node
	gates   string
	history *os.File // nil for none
}

// dial starts a client; it connects when it is first asked something.
func dial(f *gateFlag, logger *slog.Logger) (*session, error) {
	if len(f.addresses) == 0 {
		return nil, usage("--gate is missing: give the address of a gate, as in --gate gate-1:9000")
	}
	config := client.Default()
	for _, a := range f.addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" {
			return nil, usage("--gate %q is no address: write host:port, as in --gate gate-1:9000", a)
		}
		config.Gates = append(config.Gates, node.Addr(a))
	}
	config.AskTimeout, config.ReachTimeout, config.AskRetry = answerMax, reachMax, retryMax
	if err := config.Validate(); err != nil {
		return nil, asUsage(fmt.Errorf("--gate: %w", err))
	}
	s := &session{gates: strings.Join(f.addresses, ", ")}
	o := host.Options{
		Role: node.RoleClient, ID: clientID(), Cluster: f.cluster, Environment: f.environment,
		Machine: client.New(config), Logger: logger,
	}
	if f.history != "" {
		var err error
		if s.history, err = openHistory(f.history); err != nil {
			return nil, err
		}
		o.History = s.history
	}
	var err error
	if s.node, err = host.Start(o); err != nil {
		return nil, err
	}
	return s, nil
}

// openHistory opens a file that events are appended to, behind the line that a
// process that was killed has not ended.
func openHistory(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		err = endLine(f)
	}
	if err != nil {
		return nil, asUsage(fmt.Errorf("--history %s cannot be written: choose another file: %w", path, err))
	}
	return f, nil
}

// endLine ends the last line of a file that ends within it. What cannot be read at
// an offset, a pipe, say, has none.
func endLine(f *os.File) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return nil
	}
	last := []byte{'\n'}
	if _, err := f.ReadAt(last, end-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte{'\n'})
	return err
}

func clientID() node.ID { return node.ID(fmt.Sprintf("client-%d", os.Getpid())) }

// close ends the client; what it has still to say may leave.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), stopMax)
	defer cancel()
	_ = s.node.Stop(ctx) // it ends one way or the other, and nothing depends on how
	if s.history != nil {
		_ = s.history.Close() // each line was written by itself
	}
}

// ask sends one question and returns its answer, or an error that says what to do.
func (s *session) ask(ctx context.Context, m node.Message) (node.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax+stopMax) // the client gives up before
	defer cancel()
	command, err := s.node.Command(ctx, m)
	if err != nil {
		return nil, err
	}
	defer command.Close()
	answer, ok := <-command.Answers()
	if !ok {
		return nil, s.silent(command.Err())
	}
	refused, ok := answer.(*message.Refused)
	if !ok {
		return answer, nil
	}
	err = refusal(refused)
	if job, ok := m.(*message.JobSubmit); ok && refused.Code.Retryable() {
		// It may have been taken all the same.
		err = exitWith(exitFailed, fmt.Errorf("%w; submitting again with --key %s is safe", err, job.Key))
	}
	return nil, err
}

// silent explains that no answer can come any more.
func (s *session) silent(err error) error {
	if err == nil {
		err = errors.New("the client stopped")
	}
	return exitWith(exitFailed, fmt.Errorf("gate %s: %w", s.gates, err))
}

// refusal turns a gate's no into words.
func refusal(r *message.Refused) error {
	text := r.Code.String()
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	if r.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %v)", r.RetryAfter.Round(time.Millisecond))
	}
	code := exitFailed
	switch r.Code {
	case message.CodeUnknownJob, message.CodeUnknownDatacenter, message.CodeKeyMismatch, message.CodeBadPlan, message.CodeTooLarge:
		code = exitUsage
	}
	return exitWith(code, fmt.Errorf("%s: %s", text, r.Code.Remedy()))
}

// unexpected is an answer that fits no question of ours.
func unexpected(m node.Message) error {
	return exitWith(exitFailed, fmt.Errorf("the gate answered with a %s: use the same version of hyperscale at both ends", message.Name(m.Kind())))
}
