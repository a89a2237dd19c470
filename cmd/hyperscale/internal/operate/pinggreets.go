package operate

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/workflow/broker"
	words "hyperscale/core/workflow/broker/kafka"
	"hyperscale/core/workflow/mail"
	mongowords "hyperscale/core/workflow/mongodb"
	"hyperscale/core/workflow/request"
	"hyperscale/core/workflow/transfer"
	"hyperscale/runtime/ping"
	"hyperscale/runtime/protocol/amqp"
	"hyperscale/runtime/protocol/ftp"
	"hyperscale/runtime/protocol/island/ssh"
	"hyperscale/runtime/protocol/kafka"
	"hyperscale/runtime/protocol/mongodb"
	"hyperscale/runtime/protocol/mqtt"
	"hyperscale/runtime/protocol/mysql"
	"hyperscale/runtime/protocol/nats"
	"hyperscale/runtime/protocol/postgres"
	"hyperscale/runtime/protocol/redis"
	"hyperscale/runtime/protocol/smtp"
)

// passwordVariable has the password if no file does.
const passwordVariable = "HYPERSCALE_PASSWORD"

// redis returns the address of a server as HTTP would write it, and what it is greeted with.
func (f *pingFlags) redis(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("redis has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := request.RedisSchemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if t.Password != "" || t.User != "" {
		return "", nil, command.Usage("the URL has a user or a password in it, which others can see: write --user and --password-file")
	}
	c := &redis.Config{Version: redis.Version3, User: f.user}
	if c.Password, err = f.secret(); err != nil {
		return "", nil, err
	}
	switch {
	case f.user != "" && c.Password == "":
		return "", nil, command.Usage("--user %s has no password: write --password-file FILE, or set %s", f.user, passwordVariable)
	case f.password != "" && c.Password == "":
		return "", nil, command.Usage("--password-file %s is empty: write the password into it", f.password)
	}
	if t.Path != "" {
		if c.Database, err = strconv.Atoi(t.Path); err != nil || c.Database < 0 {
			return "", nil, command.Usage("%q is not the number of a database: write redis://host/0, or leave it out", t.Path)
		}
	}
	scheme := "http"
	if t.Secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.Redis = c }, nil
}

// nats does so for NATS. Without a user the password is credentials, the seed of a key or a token.
func (f *pingFlags) nats(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("nats has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := broker.NATSSchemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if t.Password != "" || t.User != "" {
		return "", nil, command.Usage("the URL has a user, a password or a token in it, which others can see: write --user and --password-file")
	}
	c := &nats.Config{User: f.user, TLS: t.Secure}
	proof, err := f.secret()
	switch {
	case err != nil:
		return "", nil, err
	case f.user != "" && proof == "":
		return "", nil, command.Usage("--user %s has no password: write --password-file FILE, or set %s", f.user, passwordVariable)
	case f.password != "" && proof == "":
		return "", nil, command.Usage("--password-file %s is empty: write the password into it", f.password)
	case f.user != "":
		c.Password = proof
	case strings.Contains(proof, "BEGIN NATS USER JWT"):
		c.Credentials = proof
	case strings.HasPrefix(proof, "SU") && len(proof) == seedLetters:
		c.Seed = proof
	default:
		c.Token = proof
	}
	scheme := "http"
	if c.First = f.first; c.First {
		if scheme = "https"; !t.Secure {
			return "", nil, command.Usage("--first begins TLS before the server's INFO, and the URL is of nats://: write tls://%s", t.Host)
		}
	}
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.NATS = c }, nil
}

// mqtt does so for MQTT.
func (f *pingFlags) mqtt(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("mqtt has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := broker.MQTTSchemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if t.Password != "" || t.User != "" {
		return "", nil, command.Usage("the URL has a user or a password in it, which others can see: write --user and --password-file")
	}
	c := &mqtt.Config{Version: mqtt.Version5, User: f.user}
	if c.Password, err = f.secret(); err != nil {
		return "", nil, err
	}
	switch {
	case f.user == "":
		c.Password = "" // the variable's, of another protocol
	case f.password != "" && c.Password == "":
		return "", nil, command.Usage("--password-file %s is empty: write the password into it", f.password)
	}
	scheme := "http"
	if t.Secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.MQTT = c }, nil
}

// amqp does so for RabbitMQ. Without a user it is guest.
func (f *pingFlags) amqp(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("amqp has no methods, headers and bodies: leave out --method, --header and --body")
	}
	secure := strings.HasPrefix(target, "amqps:")
	t, err := broker.AMQPSchemes(secure).Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if t.Password != "" {
		return "", nil, command.Usage("the URL has a password in it, which others can see: write --password-file")
	}
	user := cmp.Or(f.user, t.User)
	password, err := f.secret()
	switch {
	case err != nil:
		return "", nil, err
	case (user == "") != (password == ""):
		return "", nil, command.Usage("a user and a password go together: write --user NAME, and --password-file FILE or %s", passwordVariable)
	}
	c := &amqp.Config{User: user, Password: password, Host: t.Path}
	scheme := map[bool]string{false: "http", true: "https"}[secure]
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.AMQP = c }, nil
}

// ssh does so for an SSH server.
func (f *pingFlags) ssh(proto, target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("%s has no methods, headers and bodies: leave out --method, --header and --body", proto)
	}
	t, err := transfer.Schemes().Read("ping", starlark.String(target))
	switch {
	case err != nil:
		return "", nil, command.Usage("%v", err)
	case t.Password != "":
		return "", nil, command.Usage("the URL has a password in it, which others can see: write --password-file")
	case f.hostKeys == "" && !f.insecure:
		return "", nil, command.Usage("nothing says which keys the server may have: write --host-keys FILE, or --insecure for any")
	}
	c := ssh.Config{Host: t.Host, Port: t.Port, User: cmp.Or(f.user, t.User)}
	if c.Password, err = f.secret(); err != nil {
		return "", nil, err
	}
	for path, to := range map[string]*[]byte{f.key: &c.Key, f.hostKeys: &c.HostKeys} {
		if path == "" {
			continue
		}
		if *to, err = os.ReadFile(path); err != nil {
			return "", nil, fmt.Errorf("read the key: %w", err)
		}
	}
	if c.User == "" || c.Key == nil && c.Password == "" {
		return "", nil, command.Usage("a user and a key or a password go together: write --user NAME, and --key-file FILE, --password-file FILE or %s", passwordVariable)
	}
	of := &ping.SSH{Config: c}
	if proto == "scp" {
		of.Use = ssh.SCP
	}
	return "http://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.SSH = of }, nil
}

// smtp does so for a mail server. A user is proved in TLS.
func (f *pingFlags) smtp(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("smtp has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := mail.Schemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	c := &smtp.Config{Secure: t.Secure, User: f.user}
	if c.Secret, err = f.secret(); err != nil {
		return "", nil, err
	}
	if (c.User == "") != (c.Secret == "") {
		return "", nil, command.Usage("a user and a password go together: write --user NAME, and --password-file FILE or %s", passwordVariable)
	}
	if c.User != "" {
		c.StartTLS, c.Mechanism = !t.Secure, smtp.MechanismPlain
		for f.mechanism != "" && !strings.EqualFold(c.Mechanism.String(), f.mechanism) {
			if c.Mechanism == smtp.MechanismToken {
				return "", nil, command.Usage("--mechanism %s is none: write plain, login, cram-md5 or xoauth2", f.mechanism)
			}
			c.Mechanism++
		}
	} else if f.mechanism != "" {
		return "", nil, command.Usage("--mechanism proves a user: write --user NAME")
	}
	scheme := map[bool]string{false: "http", true: "https"}[t.Secure]
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.SMTP = c }, nil
}

// ftp does so for an FTP server. A user logs in behind TLS, the anonymous one in clear.
func (f *pingFlags) ftp(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("ftp has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := transfer.FTPSchemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if t.User != "" {
		return "", nil, command.Usage("the URL has a user in it: write --user NAME, and --password-file FILE or %s", passwordVariable)
	}
	c := &ftp.Config{Secure: t.Secure, User: f.user}
	if c.Password, err = f.secret(); err != nil {
		return "", nil, err
	}
	if (c.User == "") != (c.Password == "") {
		return "", nil, command.Usage("a user and a password go together: write --user NAME, and --password-file FILE or %s", passwordVariable)
	}
	c.Explicit = c.User != "" && !t.Secure
	scheme := map[bool]string{false: "http", true: "https"}[t.Secure]
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.FTP = c }, nil
}

// seedLetters is how many letters the seed of an NKey has.
const seedLetters = 58

// postgres returns the address of a server as HTTP would write it, and how it is greeted.
func (f *pingFlags) postgres(target string) (address string, greets func(*ping.Config), err error) {
	at, address, err := f.database("postgres", target)
	if err != nil {
		return "", nil, err
	}
	c := &postgres.Config{User: at.User, Password: at.Password, Database: at.Database, TLS: at.Secure.Mode != request.SQLPlain, Direct: at.Secure.Direct}
	return address, func(p *ping.Config) { p.Postgres, p.Insecure = c, p.Insecure || at.Secure.Mode == request.SQLEncrypted }, nil
}

// mysql does so for MySQL.
func (f *pingFlags) mysql(target string) (address string, greets func(*ping.Config), err error) {
	at, address, err := f.database("mysql", target)
	if err != nil {
		return "", nil, err
	}
	c := &mysql.Config{User: at.User, Password: at.Password, Database: at.Database, TLS: at.Secure.Mode != request.SQLPlain}
	return address, func(p *ping.Config) { p.MySQL, p.Insecure = c, p.Insecure || at.Secure.Mode == request.SQLEncrypted }, nil
}

// database reads the URL of a database, and the password of its user.
func (f *pingFlags) database(proto, target string) (at request.SQL, address string, err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return at, "", command.Usage("%s has no methods, headers and bodies: leave out --method, --header and --body", proto)
	}
	if at, err = request.SQLAddress("ping", target); err != nil {
		return at, "", command.Usage("%v", err)
	}
	switch {
	case at.MySQL() != (proto == "mysql"):
		return at, "", command.Usage("the URL is not of %s: write %s://app@host/shop", proto, proto)
	case at.Password != "":
		return at, "", command.Usage("the URL has a password in it, which others can see: write --password-file, or set %s", passwordVariable)
	case at.Secure.Mode == request.SQLAuthority:
		return at, "", command.Usage("ping verifies all of a certificate or nothing: write sslmode=verify-full, or require")
	case f.user != "" && at.User != "":
		return at, "", command.Usage("a user is in the URL and in --user: keep one of them")
	case f.user == "" && at.User == "":
		return at, "", command.Usage("the URL has no user: write %s://app@host/shop, or --user app", proto)
	case f.user != "":
		at.User = f.user
	}
	at.Password, err = f.secret()
	return at, "http://" + net.JoinHostPort(at.Target.Host, strconv.Itoa(int(at.Target.Port))) + "/", err
}

// secret reads the password.
func (f *pingFlags) secret() (string, error) {
	if f.password == "" {
		return os.Getenv(passwordVariable), nil
	}
	text, err := os.ReadFile(f.password)
	if err != nil {
		return "", command.Usage("--password-file: %v", err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// kafka returns the address of a broker as HTTP would write it, and what it is greeted with.
func (f *pingFlags) kafka(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("kafka has no methods, headers and bodies: leave out --method, --header and --body")
	}
	t, err := words.Schemes().Read("ping", starlark.String(target))
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	c := &kafka.Config{User: f.user}
	bears := f.mechanism == "oauthbearer"
	if f.user != "" || bears {
		mechanism := f.mechanism
		if mechanism == "" {
			mechanism = "scram-sha-256"
		}
		at := slices.Index([]string{"plain", "scram-sha-256", "scram-sha-512", "oauthbearer"}, mechanism)
		if at < 0 {
			return "", nil, command.Usage("--mechanism %s is none that ping has: write plain, scram-sha-256, scram-sha-512 or oauthbearer", mechanism)
		}
		c.Mechanism = kafka.PLAIN + kafka.Mechanism(at)
		if (c.Mechanism == kafka.PLAIN || bears) && !t.Secure {
			return "", nil, command.Usage("--mechanism %s sends the secret as it is, and the URL is of kafka://: write kafkas://, or --mechanism scram-sha-256", mechanism)
		}
		if c.Password, err = f.secret(); err != nil {
			return "", nil, err
		}
	}
	switch {
	case bears && f.user != "":
		return "", nil, command.Usage("--mechanism oauthbearer has no user: leave out --user, and write the token into the file of --password-file")
	case bears && c.Password == "":
		return "", nil, command.Usage("--mechanism oauthbearer has no token: write --password-file FILE, or set %s", passwordVariable)
	case f.user != "" && c.Password == "":
		return "", nil, command.Usage("--user %s has no password: write --password-file FILE, or set %s", f.user, passwordVariable)
	case !bears && f.user == "" && (f.mechanism != "" || f.password != ""):
		return "", nil, command.Usage("--mechanism and --password-file are of a user: write --user NAME")
	}
	scheme := "http"
	if t.Secure {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", func(p *ping.Config) { p.Kafka = c }, nil
}

// mongoDB returns the address of a server as HTTP would write it, and what it is greeted with.
func (f *pingFlags) mongoDB(target string) (address string, greets func(*ping.Config), err error) {
	if f.body != "" || f.method != "" || len(f.headers) > 0 {
		return "", nil, command.Usage("mongodb has no methods, headers and bodies: leave out --method, --header and --body")
	}
	to, err := mongowords.Address("ping", target)
	if err != nil {
		return "", nil, command.Usage("%v", err)
	}
	if to.Password != "" {
		return "", nil, command.Usage("the URL has a password, which others can see: write --user and --password-file")
	}
	if f.user != "" {
		to.User = f.user
	}
	if to.Target.Path == "" {
		to.Target.Path = "admin"
	}
	certified := to.Mechanism == mongowords.ByCertificate
	switch {
	case to.Service && f.address != "":
		return "", nil, command.Usage("--address is of one server, and the SRV records of %s name the servers: write mongodb://host:port/?tls=true", to.Target.Host)
	case certified && f.certificate == "":
		return "", nil, command.Usage("authMechanism=MONGODB-X509 proves a user by a certificate: write --certificate-file FILE and --key-file FILE")
	case certified && f.password != "":
		return "", nil, command.Usage("a certificate proves the user: leave out --password-file")
	}
	if f.certificate != "" {
		if to.Secure.TLS, err = f.identity(); err != nil {
			return "", nil, err
		}
		to.Target.Secure = true // as tls has it in mongodb.client
	}
	if err := mongowords.Complete("ping", &to); err != nil {
		return "", nil, command.Usage("%v", err)
	}
	c := &mongodb.Config{User: to.User, Source: to.Source, Assumed: to.Assumed, Mechanism: mongodb.MechanismOf(to.Mechanism), Set: to.Set, Balanced: to.Balanced == "true", Unbalanced: to.Balanced == "false"}
	if to.User != "" && !certified {
		if c.Password, err = f.secret(); err != nil {
			return "", nil, err
		}
	}
	switch {
	case certified:
	case to.User != "" && c.Password == "":
		return "", nil, command.Usage("--user %s has no password: write --password-file FILE, or set %s", to.User, passwordVariable)
	case to.User == "" && f.password != "":
		return "", nil, command.Usage("--password-file is of a user: write --user NAME")
	}
	scheme := "http"
	if to.Target.Secure {
		scheme = "https"
	}
	service := ""
	if to.Service {
		service = "mongodb"
	}
	return scheme + "://" + net.JoinHostPort(to.Target.Host, strconv.Itoa(int(to.Target.Port))) + "/", func(p *ping.Config) { p.MongoDB, p.Service = c, service }, nil
}

// identity reads the client's certificate and its key.
func (f *pingFlags) identity() (*request.TLS, error) {
	if f.key == "" {
		return nil, command.Usage("--certificate-file has no key: write --key-file FILE")
	}
	of := new(request.TLS)
	for _, one := range []struct {
		name, path string
		to         *[]byte
	}{{"certificate-file", f.certificate, &of.Certificate}, {"key-file", f.key, &of.Key}} {
		var err error
		if *one.to, err = os.ReadFile(one.path); err != nil {
			return nil, command.Usage("--%s: %v", one.name, err)
		}
	}
	return of, nil
}

// certifies gives a ping the certificate that the client shows in TLS.
func (f *pingFlags) certifies(cfg *ping.Config) error {
	if f.certificate == "" {
		return nil
	}
	if !cfg.Secures() {
		return command.Usage("--certificate-file is of TLS, and the URL has none: write a URL with TLS, such as https://, or leave it out")
	}
	of, err := f.identity()
	if err != nil {
		return err
	}
	own, err := tls.X509KeyPair(of.Certificate, of.Key)
	if err != nil {
		return command.Usage("--certificate-file %s and --key-file %s: %v: give PEM files that belong together", f.certificate, f.key, err)
	}
	cfg.TLS = &tls.Config{Certificates: []tls.Certificate{own}} //nolint:gosec // the library's least version shows what a server has
	return nil
}
