package ping

import (
	"context"
	"net"
	"strings"

	"hyperscale/core/message"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/island/ssh"
)

// SSH is what a ping of an SSH server asks.
type SSH struct {
	Config ssh.Config
	Use    ssh.Use
}

// scheme is that of its URL.
func (s *SSH) scheme() string {
	if s.Use == ssh.SCP {
		return "scp"
	}
	return "sftp"
}

// talkSSH greets the server, and times the answer to REALPATH, or the end of a command.
func (r *Report) talkSSH(_ context.Context, c net.Conn, cfg Config, _ *http1.Call) error {
	r.enter(message.PhaseWait) // what is sent and what is waited for alternate
	protocol, err := ssh.New(cfg.SSH.Config)
	if err != nil {
		return err
	}
	seen, err := protocol.Ping(c, cfg.SSH.Use)
	if err != nil {
		return err
	}
	r.Answer = &Answer{Protocol: strings.ToUpper(cfg.SSH.scheme()), Status: 200, Headers: [][2]string{}, KeepAlive: true}
	r.Greeting = &Greeting{Protocol: r.Answer.Protocol, Server: seen.Version, NS: int64(seen.Greeted), PongNS: int64(seen.Answer)}
	return nil
}
