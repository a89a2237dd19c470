package kafka

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
)

// prover is the broker's side of SCRAM-SHA-256.
type prover struct {
	challenged int // messages of the client
	first      string
}

// The challenge, behind the nonce.
const (
	proofSalt  = "salt"
	proofCount = 4096
)

// salted is the password of every client, salted once.
var salted = sync.OnceValue(func() string {
	key, err := pbkdf2.Key(sha256.New, Password, []byte(proofSalt), proofCount, sha256.Size)
	if err != nil {
		panic(err)
	}
	return string(key)
})

// proves is an answer to SaslAuthenticate, with bytes of the mechanism.
func proves(says string) string { return i16(0) + i16(-1) + i32(len(says)) + says }

// challenges answers the client's first message; later ones only count.
func (p *prover) challenges(body []byte) string {
	if p.challenged++; p.challenged > 1 {
		return ""
	}
	_, bare, _ := strings.Cut(string(body), "n,,")
	_, nonce, _ := strings.Cut(bare, ",r=")
	says := "r=" + nonce + "server,s=" + base64.StdEncoding.EncodeToString([]byte(proofSalt)) + ",i=4096"
	p.first = bare + "," + says
	return proves(says)
}

// challenges makes an act of a challenge that ends otherwise.
func challenges(end string) Act {
	return func(s *Session) bool {
		_, says, _ := strings.Cut(s.scram.first, ",r=")
		_, says, _ = strings.Cut(says, ",")
		head, _, _ := strings.Cut(says, ",i=")
		s.Say(proves(head + "," + end))
		return hold(s)
	}
}

func mac(key, data string) string {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(data))
	return string(m.Sum(nil))
}

// judges answers the client's proof.
func (p *prover) judges(s *Server, body []byte) string {
	_, rest, _ := strings.Cut(string(body), "c=biws,")
	bare, proof, _ := strings.Cut("c=biws,"+rest, ",p=")
	client := mac(salted(), "Client Key")
	stored := sha256.Sum256([]byte(client))
	want := []byte(mac(string(stored[:]), p.first+","+bare))
	for i := range want {
		want[i] ^= client[i]
	}
	if proof != base64.StdEncoding.EncodeToString(want) {
		s.blame("the proof is %.80q", proof)
	}
	return proves("v=" + base64.StdEncoding.EncodeToString([]byte(mac(mac(salted(), "Server Key"), p.first+","+bare))))
}
