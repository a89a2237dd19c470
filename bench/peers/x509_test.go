package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"time"

	driver "go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"hyperscale/core/workflow/bson"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/hostile/authority"
	"hyperscale/runtime/protocol/mongodb"
)

// overheard keeps what comes on a connection.
type overheard struct {
	net.Conn
	mu   *sync.Mutex
	said *[]byte
}

// Read implements net.Conn.
func (o overheard) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	*o.said = append(*o.said, b[:n]...)
	return n, err
}

// authenticates returns the command that begins so, of messages one behind the other; nil: there is none.
func authenticates(said []byte) []byte {
	for len(said) > 26 {
		n := int(binary.LittleEndian.Uint32(said))
		if n < 26 || n > len(said) {
			return nil
		}
		if binary.LittleEndian.Uint32(said[12:]) == mongoMsg && string(said[26:min(n, 39)]) == "authenticate\x00" {
			return said[21:n]
		}
		said = said[n:]
	}
	return nil
}

// A user of a certificate says what mongo-driver says, field by field.
func TestUserOfCertificateSaysWhatTheDriverSays(t *testing.T) {
	f, err := newFinding(serverConfig{Listen: "127.0.0.1:0"}, &counter{base: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	_ = f.listener.Close()
	c := authority.Honest()
	c.NextProtos, c.ClientAuth = nil, tls.RequireAnyClientCert
	listener, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []*[]byte
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			said := new([]byte)
			mu.Lock()
			all = append(all, said)
			mu.Unlock()
			go f.talk(overheard{c, &mu, said})
		}
	}()
	certificate, key := authority.Client("app")
	own, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + listener.Addr().String() + "/?directConnection=true").
		SetTLSConfig(&tls.Config{RootCAs: authority.Roots(), Certificates: []tls.Certificate{own}}).
		SetAuth(options.Credential{AuthMechanism: "MONGODB-X509"}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	if err := client.Ping(ctx, nil); err != nil {
		t.Fatal(err)
	}
	_ = client.Disconnect(ctx)
	cancel()
	_ = listener.Close()
	var theirs []byte
	mu.Lock()
	for _, said := range all {
		if theirs == nil {
			theirs = authenticates(*said)
		}
	}
	mu.Unlock()
	g := mongodb.New(mongodb.Config{Mechanism: mongodb.X509}).Greet(mongodb.Random{})
	rounds, out := codec.NewRounds(g)
	hello := append([]byte{0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0, 0}, f.hello...)
	binary.LittleEndian.PutUint32(hello, uint32(len(hello)))
	more, _, _, err := rounds.Feed(nil, hello)
	if err != nil {
		t.Fatal(err)
	}
	ours := authenticates(append(out, more...))
	if theirs == nil || ours == nil {
		t.Fatalf("the driver said %q, and we %q", theirs, ours)
	}
	var a, b driver.M
	if err := driver.Unmarshal(theirs, &a); err != nil {
		t.Fatal(err)
	}
	if err := driver.Unmarshal(ours, &b); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"authenticate", "mechanism", "$db"} {
		if a[name] != b[name] {
			t.Errorf("%s: the driver says %v, and we %v: %s", name, a[name], b[name], bson.AppendJSON(nil, ours))
		}
	}
	if len(b) > len(a) {
		t.Errorf("the driver says %s, and we %s", bson.AppendJSON(nil, theirs), bson.AppendJSON(nil, ours))
	}
}
