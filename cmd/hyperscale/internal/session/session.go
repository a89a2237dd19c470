package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/client"
	"hyperscale/core/discovery"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/runtime/api/remote"
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
	Gates   string // whom it asks, for people
	Flags   string // that lead there, for commands that people type
	node    *host.Node
	api     *remote.Client // in place of node
	history *os.File       // nil for none
}

// Asked is a question and its answers.
type Asked interface {
	Answers() <-chan node.Message // closed when no more answers can arrive
	Err() error                   // why not; nil before the end and after Close
	Close()
}

// Dial starts a client; it connects when it is first asked something.
func Dial(f *Flags, logger *slog.Logger) (*Session, error) {
	if len(f.over.urls) > 0 {
		return f.dialAPI()
	}
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
	s := &Session{Gates: "gate " + strings.Join(f.Addresses, ", "), Flags: "--gate " + strings.Join(f.Addresses, ",")}
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
	if s.node, err = host.Start(o); err != nil {
		return nil, err
	}
	return s, nil
}

// dialAPI makes a client of the HTTP API.
func (f *Flags) dialAPI() (*Session, error) {
	own, flags := remote.Config{Cert: f.certs.Cert, Key: f.certs.Key}, " --tls-cert "+f.certs.Cert+" --tls-key "+f.certs.Key
	if f.over.token != "" {
		token, err := remote.ReadToken(f.over.token)
		if err != nil {
			return nil, command.AsUsage(err)
		}
		own, flags = remote.Config{Token: token}, " --token-file "+f.over.token
	}
	api, err := remote.New(remote.Config{URLs: f.over.urls, Token: own.Token, Cert: own.Cert, Key: own.Key, CA: f.over.ca, Note: f.Note, Reach: reachMax, Answer: answerMax})
	if err != nil {
		return nil, command.AsUsage(err)
	}
	s := &Session{Gates: "API " + strings.Join(f.over.urls, ", "), api: api}
	s.Flags = "--api " + strings.Join(f.over.urls, ",") + flags
	if f.over.ca != "" {
		s.Flags += " --api-ca " + f.over.ca
	}
	return s, nil
}

// Command sends a question, whose answers come until it is closed or ctx ends.
func (s *Session) Command(ctx context.Context, m node.Message) (Asked, error) {
	if s.api != nil {
		return s.api.Command(ctx, m), nil
	}
	return s.node.Command(ctx, m)
}

// Job returns the job that a key names for this client. The HTTP API alone must be asked for it.
func (s *Session) Job(ctx context.Context, key string) (message.JobID, error) {
	if s.api == nil {
		return message.JobOf(key), nil
	}
	job, err := s.api.Job(ctx, key)
	if err != nil {
		return job, s.Silent(err)
	}
	return job, nil
}

// Own says that a key submitted a job: the HTTP API lets a submitter cancel its own alone. Gates' own ports need no key.
func (s *Session) Own(job message.JobID, key string) error {
	if s.api == nil {
		return command.Usage("--key goes with --api, where a submitter cancels its own jobs alone: leave it out")
	}
	s.api.Own(job, key)
	return nil
}

// interruptedBy is the reason of a cancellation over HTTP, where gates do not know this process.
func interruptedBy() string { return "interrupted at " + string(ClientID()) }

// Interrupt is the order of a person at this terminal.
func (s *Session) Interrupt(job message.JobID) *message.JobCancel {
	order := &message.JobCancel{Job: job}
	if s.api != nil {
		order.Reason = interruptedBy()
	}
	return order
}

// Interrupted calls a cancellation by this process an interrupt.
func (s *Session) Interrupted(reason string) string {
	if s.api == nil {
		return strings.ReplaceAll(reason, "cancelled by "+string(ClientID()), "interrupted")
	}
	return regexp.MustCompile("cancelled by [^ ]+: "+regexp.QuoteMeta(interruptedBy())).ReplaceAllString(reason, "interrupted")
}

// ClientID is how gates know this process.
func ClientID() node.ID { return node.ID(fmt.Sprintf("client-%d", os.Getpid())) }

// Close ends the client; its last messages may leave.
func (s *Session) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), StopMax)
	defer cancel()
	if s.api != nil {
		s.api.Close()
		return
	}
	_ = s.node.Stop(ctx) // it ends one way or the other, and nothing depends on how
	if s.history != nil {
		_ = s.history.Close() // each line was written by itself
	}
}

// Ask sends one question and returns its answer, or an error that says what to do.
func (s *Session) Ask(ctx context.Context, m node.Message) (node.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax+StopMax) // the client gives up before
	defer cancel()
	asked, err := s.Command(ctx, m)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	answer, ok := <-asked.Answers()
	if !ok {
		return nil, s.unsure(m, s.Silent(asked.Err()))
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

// unsure adds to an error of the HTTP API that a submission may have arrived all the same.
func (s *Session) unsure(m node.Message, err error) error {
	var known *remote.Error
	job, submits := m.(*message.JobSubmit)
	if !submits || !errors.As(err, &known) || known.Setup {
		return err
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("%w; submitting again with --key %s is safe", err, job.Key))
}

// Silent explains that no answer can arrive any more.
func (s *Session) Silent(err error) error {
	var known *remote.Error
	switch {
	case err == nil:
		err = errors.New("the client stopped")
	case errors.As(err, &known) && known.Setup:
		return command.AsUsage(err)
	case known != nil:
		return command.Exit(command.ExitFailed, err)
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", s.Gates, err))
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
		message.CodeNoLetter, message.CodeUnknownSink:
		code = command.ExitUsage
	}
	return command.Exit(code, fmt.Errorf("%s: %s", text, r.Code.Remedy()))
}

// Unexpected is an answer that fits no question of ours.
func Unexpected(m node.Message) error {
	return command.Exit(command.ExitFailed, fmt.Errorf("the gate answered with a %s: use the same version of hyperscale at both ends", message.Name(m.Kind())))
}
