package ssh

import (
	"net"
	"strconv"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

// Config says where connections go and what proves their user. Either a key or a password does.
type Config struct {
	Host           string
	Port           uint16
	User, Password string
	Key            []byte // a private key, PEM or OpenSSH's own format, without a passphrase
	HostKeys       []byte // known_hosts; nil: any key is the server's
	Limit          int64  // bytes of an answer that is kept; 0: http1.BodyLimitDefault
}

// Use is what a connection carries.
type Use uint8

// The uses.
const (
	SFTP Use = iota // its subsystem is open before the first operation
	SCP
)

// Protocol begins the connections of one target.
type Protocol struct {
	config gossh.ClientConfig
	at     string
	limit  int64
}

const version = "SSH-2.0-hyperscale"

// New reads the keys. An error is *http1.InputError.
func New(c Config) (*Protocol, error) {
	p := &Protocol{at: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), limit: c.Limit}
	if p.limit <= 0 {
		p.limit = http1.BodyLimitDefault
	}
	p.config = gossh.ClientConfig{User: c.User, ClientVersion: version, HostKeyCallback: gossh.InsecureIgnoreHostKey()}
	if c.HostKeys != nil {
		known, err := hostsOf(c.HostKeys, c.Host, c.Port)
		if err != nil {
			return nil, err
		}
		p.config.HostKeyCallback, p.config.HostKeyAlgorithms = known.check, known.algorithms()
	}
	if c.Key != nil {
		signer, err := gossh.ParsePrivateKey(c.Key)
		if err != nil {
			remedy := "give a private key of ed25519, RSA or ECDSA, as ssh-keygen makes it"
			if strings.Contains(err.Error(), "passphrase") {
				remedy = "take its passphrase off: ssh-keygen -p -N '' -f key"
			}
			return nil, &http1.InputError{Field: "key", Value: "***", Remedy: remedy}
		}
		p.config.Auth = append(p.config.Auth, gossh.PublicKeys(signer))
	}
	if c.Key == nil || c.Password != "" {
		p.config.Auth = append(p.config.Auth, gossh.Password(c.Password), gossh.KeyboardInteractive(answers(c.Password)))
	}
	return p, nil
}

// answers answers a server that asks for the password as a question.
func answers(password string) gossh.KeyboardInteractiveChallenge {
	return func(_, _ string, questions []string, echos []bool) ([]string, error) {
		if len(questions) == 0 {
			return nil, nil
		}
		if len(questions) > 1 || echos[0] {
			return nil, errQuestions
		}
		return []string{password}, nil
	}
}

// Greet returns the greeting of one connection.
func (p *Protocol) Greet(use Use) codec.Greeting { return &greeting{protocol: p, use: use} }
