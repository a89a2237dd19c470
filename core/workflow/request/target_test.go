package request

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

func TestTargets(t *testing.T) {
	tcp := Schemes{Plain: "tcp", Secure: "tcps"}
	redis := Schemes{Plain: "redis", Secure: "rediss", Port: 6379, User: true, Path: true}
	udp := Schemes{Plain: "udp"}
	for _, tt := range []struct {
		of        Schemes
		url, want string // or a part of the error
		secure    bool
	}{
		{tcp, "tcp://h:7", "tcp://h:7", false},
		{tcp, "tcp://h:7/", "tcp://h:7", false},
		{tcp, "tcps://[::1]:7", "tcps://[::1]:7", true},
		{tcp, "tcp://h", "has no port", false},
		{tcp, "tcp://:7", "no host", false},
		{tcp, "tcp://h ost:7", "is not one", false},
		{tcp, "tcp://h:0", "has port 0", false},
		{tcp, "tcp://h:65536", "has port 65536", false},
		{tcp, "tcp://h:7/path", "has a path", false},
		{tcp, "tcp://u@h:7", "has a user", false},
		{tcp, "tcp://h:7?a", "a query", false},
		{tcp, "tcp://${h}:7", "has a value", false},
		{tcp, "http://h:7", "neither tcp nor tcps", false},
		{tcp, "h:7", "no scheme", false},
		{udp, "udp://h:53", "udp://h:53", false},
		{udp, "://h:53", "not of udp", false},
		{redis, "redis://h", "redis://h:6379", false},
		{redis, "rediss://u:p@h:1/2", "rediss://h:1/2", true},
		{redis, "redis://u:p@", "no host", false},
	} {
		got, err := tt.of.Read("f", starlark.String(tt.url))
		switch {
		case err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), ":p@")):
			t.Errorf("%s: got %v, want %q", tt.url, err, tt.want)
		case err == nil && (got.URL() != tt.want || got.Secure != tt.secure):
			t.Errorf("%s: got %s, secure %v, want %s", tt.url, got.URL(), got.Secure, tt.want)
		}
	}
	if got, err := redis.Read("f", starlark.String("redis://u:p%40@h/3")); err != nil || got.User != "u" || got.Password != "p@" || got.Path != "3" {
		t.Errorf("got %+v, %v", got, err)
	}
}
