package objects

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/operator"
)

// account is where Kubernetes mounts what a pod needs to ask the API server.
const account = "/var/run/secrets/kubernetes.io/serviceaccount"

// flags are those of the command.
type flags struct {
	label, gates, token, authority, result string
	namespaces                             []string
	kube, kubeToken, kubeAuthority         string
	admin                                  string
	log                                    command.LogFlags
}

// NewCommand runs the operator of load tests.
func NewCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "operator",
		Short: "run load tests that are objects of Kubernetes",
		Long: `Run load tests that are objects of Kubernetes: submit the program of each LoadTest, write
its progress and its verdict into its status, and cancel its job once it is deleted.

It is a client of the gates' HTTP API and of Kubernetes' API server, and keeps nothing: two
replicas, or a restart, make no second job. A job goes on while no operator runs. In a pod
it finds the API server, its token and its namespace by itself.`,
		Example: "  hyperscale operator --gates https://hyperscale-api:8443 --token /run/secrets/operator/token --label prod",
		Args:    command.Exactly(),
		RunE: command.Runs(func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			config, err := f.config(os.Getenv)
			if err != nil {
				return command.AsUsage(err)
			}
			config.Logger = f.log.Logger(cmd.ErrOrStderr())
			o, err := operator.New(config)
			if err != nil {
				return command.AsUsage(err)
			}
			failed := make(chan error, 1)
			if f.admin != "" {
				l, err := net.Listen("tcp", f.admin)
				if err != nil {
					return command.Usage("--admin: %w: choose another host:port", err)
				}
				config.Logger.Info("up", "admin", l.Addr().String())
				go func() {
					failed <- o.Probes(ctx, l)
					stop()
				}()
			} else {
				failed <- nil
			}
			o.Run(ctx)
			return <-failed
		}),
	}
	set := cmd.Flags()
	set.StringVar(&f.gates, "gates", "", "`URL` of the gates' HTTP API, like https://hyperscale-api:8443 (required)")
	set.StringVar(&f.token, "token", "", "`FILE` with a token of role submitter, of `hyperscale token new` (required)")
	set.StringVar(&f.authority, "gates-ca", "", "`FILE` with the authorities of the gates' certificate; those of the system if not given")
	set.StringVar(&f.result, "result-url", "", "`URL` of the HTTP API for people, in status.resultURL; that of --gates if not given")
	set.StringVar(&f.label, "label", "default", "`NAME` that separates this operator's jobs from those of others at the same gates")
	set.StringSliceVar(&f.namespaces, "namespace", nil, "`NAMES` of the namespaces whose load tests it follows, by comma; its own if not given")
	set.StringVar(&f.kube, "kube", "", "`URL` of the API server; that of the pod if not given")
	set.StringVar(&f.kubeToken, "kube-token", "", "`FILE` with the token for the API server; that of the pod if not given")
	set.StringVar(&f.kubeAuthority, "kube-ca", "", "`FILE` with the authorities of the API server's certificate; those of the pod if not given")
	set.StringVar(&f.admin, "admin", "", "`host:port` of /healthz and /readyz; none if not given")
	f.log.Add(set, "info")
	return cmd
}

// config is what the flags and the pod say.
func (f *flags) config(env func(string) string) (c operator.Config, err error) {
	if f.gates == "" || f.token == "" {
		return c, errors.New("--gates and --token are required: where the gates' HTTP API is, and the file with a token of `hyperscale token new --role submitter`")
	}
	c = operator.Config{Label: f.label, Namespaces: f.namespaces, Result: f.result}
	kube := f.kube
	if kube == "" {
		host, port := env("KUBERNETES_SERVICE_HOST"), env("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return c, errors.New("--kube: this is no pod of Kubernetes: give the URL of the API server")
		}
		kube = "https://" + net.JoinHostPort(host, port)
		f.kubeAuthority = cmp.Or(f.kubeAuthority, filepath.Join(account, "ca.crt"))
	}
	c.Kube = operator.Side{URL: kube, Token: cmp.Or(f.kubeToken, filepath.Join(account, "token"))}
	c.Gates = operator.Side{URL: f.gates, Token: f.token}
	if len(c.Namespaces) == 0 {
		b, err := os.ReadFile(filepath.Join(account, "namespace"))
		if err != nil {
			return c, errors.New("--namespace: this is no pod of Kubernetes: name the namespaces whose load tests it follows")
		}
		c.Namespaces = []string{strings.TrimSpace(string(b))}
	}
	if c.Kube.Transport, err = transport("--kube-ca", f.kubeAuthority); err != nil {
		return c, err
	}
	c.Gates.Transport, err = transport("--gates-ca", f.authority)
	return c, err
}

// transport trusts the authorities of a file; of an empty name, those of the system.
func transport(flag, file string) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy, t.ResponseHeaderTimeout = nil, 15*time.Second
	if file == "" {
		return t, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s has no certificate: give PEM", flag, file)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}
