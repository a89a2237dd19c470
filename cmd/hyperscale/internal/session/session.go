package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/client"
	"hyperscale/core/discovery"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/host"
)

// Bounds on a command's waits.
const (
	reachMax  = 10 * time.Second // a stream to any gate
	retryMax  = 5 * time.Second  // for one gate's answer, before the client asks another
	answerMax = 90 * time.Second // an answer of any: three leases of a job, whose owner may be lost
	NewsEvery = 15 * time.Second // without news of a job that is watched, its state is asked for
	NewsMax   = 90 * time.Second // without news or an answer, the gates count as gone
	CancelMax = 60 * time.Second // a cancelled job's end
	StopMax   = 5 * time.Second  // a client's own end
)

// Session is a command's connection to a cluster.
type Session struct {
	Node    *host.Node
	Gates   string
	history *os.File // nil for none
}

// Dial starts a client; it connects when it is first asked something.
func Dial(f *Flags, logger *slog.Logger) (*Session, error) {
	if len(f.Addresses) == 0 {
		return nil, command.Usage("--gate is missing: give the address of a gate, as in --gate gate-1:9000")
	}
	if err := f.certs.Check(); err != nil {
		return nil, command.AsUsage(err)
	}
	config := client.Default()
	for _, a := range f.Addresses {
		name, named, err := nameOf(a)
		if err != nil {
			return nil, err
		}
		if host, port, err := net.SplitHostPort(a); !named && (err != nil || host == "" || port == "") {
			return nil, command.Usage("--gate %q is no address: write host:port, as in --gate gate-1:9000", a)
		}
		if f.near() && !node.Addr(a).Near() {
			return nil, command.Usage("--gate %s: secrets stay on this machine, as frames are not encrypted: give the cluster's secret to --cluster-secret, or certificates to --tls-cert, --tls-key and --tls-ca, use `%s run`, or a gate that listens on 127.0.0.1 here", a, command.Called())
		}
		if named {
			config.Discover = append(config.Discover, name)
			continue
		}
		config.Gates = append(config.Gates, node.Addr(a))
	}
	cache := f.cache(config.Discover)
	config.Cached = cache.read()
	config.Near, config.Explore = f.near(), discovery.DefaultPool().Explore
	config.AskTimeout, config.ReachTimeout, config.AskRetry = answerMax, reachMax, retryMax
	if err := config.Validate(); err != nil {
		return nil, command.AsUsage(fmt.Errorf("--gate: %w", err))
	}
	s := &Session{Gates: strings.Join(f.Addresses, ", ")}
	o := host.Options{
		Role: node.RoleClient, ID: ClientID(), Cluster: f.Cluster, Environment: f.Environment,
		Machine: client.New(config), Logger: command.Lower(logger), SecretFile: f.secret,
		Certs: f.certs, Resolver: f.resolver, Observer: cache.observe,
	}
	if f.journal != "" {
		var err error
		if s.history, err = OpenHistory("journal", f.journal); err != nil {
			return nil, err
		}
		o.History = s.history
	}
	var err error
	if s.Node, err = host.Start(o); err != nil {
		return nil, err
	}
	return s, nil
}

// ClientID is how gates know this process.
func ClientID() node.ID { return node.ID(fmt.Sprintf("client-%d", os.Getpid())) }

// Close ends the client; its last messages may leave.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), StopMax)
	defer cancel()
	_ = s.Node.Stop(ctx) // it ends one way or the other, and nothing depends on how
	if s.history != nil {
		_ = s.history.Close() // each line was written by itself
	}
}

// Ask sends one question and returns its answer, or an error that says what to do.
func (s *Session) Ask(ctx context.Context, m node.Message) (node.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax+StopMax) // the client gives up before
	defer cancel()
	asked, err := s.Node.Command(ctx, m)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	answer, ok := <-asked.Answers()
	if !ok {
		return nil, s.Silent(asked.Err())
	}
	refused, ok := answer.(*message.Refused)
	if !ok {
		return answer, nil
	}
	err = Refusal(refused)
	if job, ok := m.(*message.JobSubmit); ok && refused.Code.Retryable() {
		// It may have been taken all the same.
		err = command.Exit(command.ExitFailed, fmt.Errorf("%w; submitting again with --key %s is safe", err, job.Key))
	}
	return nil, err
}

// Silent explains that no answer can arrive any more.
func (s *Session) Silent(err error) error {
	if err == nil {
		err = errors.New("the client stopped")
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("gate %s: %w", s.Gates, err))
}

// Refusal explains a gate's rejection.
func Refusal(r *message.Refused) error {
	text := r.Code.String()
	if r.Detail != "" {
		text += ": " + r.Detail
	}
	if r.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %v)", r.RetryAfter.Round(time.Millisecond))
	}
	code := command.ExitFailed
	switch r.Code {
	case message.CodeUnknownJob, message.CodeUnknownWorkflow, message.CodeUnknownDatacenter, message.CodeKeyMismatch, message.CodeBadPlan, message.CodeTooLarge,
		message.CodeNoLetter:
		code = command.ExitUsage
	}
	return command.Exit(code, fmt.Errorf("%s: %s", text, r.Code.Remedy()))
}

// Unexpected is an answer that fits no question of ours.
func Unexpected(m node.Message) error {
	return command.Exit(command.ExitFailed, fmt.Errorf("the gate answered with a %s: use the same version of hyperscale at both ends", message.Name(m.Kind())))
}
