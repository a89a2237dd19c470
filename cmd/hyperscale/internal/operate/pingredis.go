package operate

import (
	"net"
	"os"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/workflow/request"
	"hyperscale/runtime/protocol/redis"
)

// passwordVariable has the password if no file does.
const passwordVariable = "HYPERSCALE_PASSWORD"

// redis returns the address of a server as HTTP would write it, and what it is greeted with.
func (f *pingFlags) redis(target string) (address string, c *redis.Config, err error) {
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
	c = &redis.Config{Version: redis.Version3, User: f.user, Password: os.Getenv(passwordVariable)}
	if f.password != "" {
		text, err := os.ReadFile(f.password)
		if err != nil {
			return "", nil, command.Usage("--password-file: %v", err)
		}
		c.Password = strings.TrimRight(string(text), "\r\n")
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
	return scheme + "://" + net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) + "/", c, nil
}
