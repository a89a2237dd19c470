package seal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const scope = "1 cluster environment"

// secretsOf parses secrets.
func secretsOf(t testing.TB, texts ...string) []Secret {
	t.Helper()
	all, err := Parse([]byte(strings.Join(texts, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ringOf(t testing.TB, texts ...string) *Ring { return NewRing(scope, secretsOf(t, texts...)) }

// pair shakes hands between two rings.
func pair(dialer, acceptor *Ring) (d, a Keys, err error) {
	x, y := dialer.Begin(true), acceptor.Begin(false)
	d, err = x.Finish(y.Opening())
	a, other := y.Finish(x.Opening())
	if (err == nil) != (other == nil) {
		return d, a, fmt.Errorf("the ends differ: %v, %v", err, other)
	}
	return d, a, err
}

// TestVectors compares with pyca/cryptography: testdata/vectors.py.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Secret, Scope, Name, Dialer, Acceptor, Salt string
		NextDialer                                  string `json:"next_from_dialer"`
		NextAcceptor                                string `json:"next_from_acceptor"`
		Frames, Datagrams                           []string
		FromDialer                                  []string `json:"from_dialer"`
		FromAcceptor                                []string `json:"from_acceptor"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	bytesOf := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ring := NewRing(v.Scope, secretsOf(t, v.Secret))
	if got := ring.IDs()[0].String(); got != v.Name {
		t.Errorf("the secret is called %s, want %s", got, v.Name)
	}
	d := &Handshake{ring: ring, secrets: ring.secrets(), dialed: true, said: [OpeningLength]byte(bytesOf(v.Dialer))}
	a := &Handshake{ring: ring, secrets: ring.secrets(), said: [OpeningLength]byte(bytesOf(v.Acceptor))}
	dk, err := d.Finish(a.Opening())
	if err != nil {
		t.Fatal(err)
	}
	ak, err := a.Finish(d.Opening())
	if err != nil {
		t.Fatal(err)
	}
	sender, receiver := ring.NewSender(), ring.NewReceiver()
	sender.id, sender.salt = ring.IDs()[0], salt(bytesOf(v.Salt))
	sender.aead = ring.datagramKey(ring.secrets()[0], sender.salt)
	for i, frame := range v.Frames {
		if got := hex.EncodeToString(dk.Out.Seal(nil, bytesOf(frame))); got != v.FromDialer[i] {
			t.Errorf("the dialer's frame %d is %.80s, want %.80s", i, got, v.FromDialer[i])
		}
		if got, err := ak.In.Open(bytesOf(v.FromDialer[i])); err != nil || hex.EncodeToString(got) != frame {
			t.Errorf("the dialer's frame %d opens as %.80x, %v", i, got, err)
		}
		if got := hex.EncodeToString(ak.Out.Seal(nil, bytesOf(frame))); got != v.FromAcceptor[i] {
			t.Errorf("the acceptor's frame %d is %.80s, want %.80s", i, got, v.FromAcceptor[i])
		}
		if got := hex.EncodeToString(sender.Seal(nil, bytesOf(frame))); got != v.Datagrams[i] {
			t.Errorf("datagram %d is %.120s, want %.120s", i, got, v.Datagrams[i])
		}
		if got, err := receiver.Open(bytesOf(v.Datagrams[i])); err != nil || hex.EncodeToString(got) != frame {
			t.Errorf("datagram %d opens as %.80x, %v", i, got, err)
		}
	}
	dk.Out.frames, ak.Out.frames = keyFrames, keyFrames
	if got := hex.EncodeToString(dk.Out.Seal(nil, bytesOf(v.Frames[1]))); got != v.NextDialer {
		t.Errorf("the first frame of the dialer's next key is %s, want %s", got, v.NextDialer)
	}
	if got := hex.EncodeToString(ak.Out.Seal(nil, bytesOf(v.Frames[1]))); got != v.NextAcceptor {
		t.Errorf("the first frame of the acceptor's next key is %s, want %s", got, v.NextAcceptor)
	}
}

func TestSecrets(t *testing.T) {
	good := New()
	for _, c := range []struct{ text, want string }{
		{"# only a comment\n\n", "there is no secret"},
		{"short", "line 1 has 5 bytes, must have at least 16"},
		{"\n" + strings.Repeat("ab", 20), "line 2 has 2 different bytes, must have at least 8"},
		{strings.Repeat(good, 30), "must have at most 1024"},
		{"ChangeMe-Password-2024", "line 1 is made of usual words and digits"},
		{"correct-horse-battery-staple", "is made of usual words"},
		{"hyperscale-secret-0123456789", "is made of usual words"},
		{good + "\n" + good, "line 2 stands twice"},
		{strings.Join([]string{New(), New(), New(), New(), New()}, "\n"), "there are 5 secrets, at most 4"},
		{strings.Repeat("\n", textMax+1), "more than"},
	} {
		_, err := Parse([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
		for _, told := range []string{good[:8], strings.TrimSpace(c.text)} {
			if told = told[:min(len(told), 12)]; err != nil && told != "" && strings.Contains(err.Error(), told) {
				t.Errorf("the error tells the secret: %v", err)
			}
		}
	}
	if got := secretsOf(t, " "+good+" \r", "# old", New()); len(got) != 2 || got[0].id != secretsOf(t, good)[0].id {
		t.Errorf("spaces around a secret count: %v", got)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	write := func(text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	f := OpenFile(path)
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "correct --cluster-secret") {
		t.Errorf("no file: %v", err)
	}
	for mode, fits := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o644: false, 0o660: false, 0o604: false} {
		write(New(), mode)
		if _, err := f.Read(); (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "chmod 0600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	write(New()+"\n", 0o600)
	if _, err := f.Read(); err != nil || f.Changed() {
		t.Errorf("it changed by itself: %v", err)
	}
	write(New()+"\n"+New()+"\n", 0o600)
	if !f.Changed() {
		t.Error("another secret is no change")
	}
	write(New()+"\n", 0o644)
	if _, err := f.Read(); err == nil || f.Changed() {
		t.Errorf("a file that all may read: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if !f.Changed() {
		t.Error("a mode that was mended is no change: the node never reads the new secret")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if f.Changed() {
		t.Error("a file that is away has changed")
	}
	if _, err := OpenFile(t.TempDir()).Read(); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// TestWhichKeyAStreamTakes: the dialer's first that both know.
func TestWhichKeyAStreamTakes(t *testing.T) {
	oldest, old, young := New(), New(), New()
	name := func(text string) string { return secretsOf(t, text)[0].id.String() }
	for _, c := range []struct {
		dialer, acceptor []string
		want             string
	}{
		{[]string{old}, []string{old}, name(old)},
		{[]string{old, young}, []string{old}, name(old)},
		{[]string{young, old}, []string{old, young}, name(young)},
		{[]string{old, young}, []string{young, old}, name(old)},
		{[]string{young}, []string{young, old, oldest}, name(young)},
		{[]string{young}, []string{old}, ""},
	} {
		d, a, err := pair(ringOf(t, c.dialer...), ringOf(t, c.acceptor...))
		if c.want == "" {
			if mismatch := (*KeyError)(nil); !errors.As(err, &mismatch) {
				t.Errorf("%v: %v", c, err)
			}
			continue
		}
		if err != nil || d.ID.String() != c.want || a.ID != d.ID {
			t.Errorf("dialer %v and acceptor %v chose %v and %v, want %s: %v", c.dialer, c.acceptor, d.ID, a.ID, c.want, err)
		}
	}
}

// TestAStreamOpensOnlyItsOwnFrames: each once, in order, of the other end of the same stream.
func TestAStreamOpensOnlyItsOwnFrames(t *testing.T) {
	ring := ringOf(t, New())
	frame := []byte("a frame")
	for name, attack := range map[string]func(d, a, otherD, otherA Keys) []byte{
		"doubled": func(d, a, _, _ Keys) []byte {
			b := d.Out.Seal(nil, frame)
			if _, err := a.In.Open(bytes.Clone(b)); err != nil {
				t.Fatal(err)
			}
			return b
		},
		"left out": func(d, _, _, _ Keys) []byte {
			d.Out.Seal(nil, frame)
			return d.Out.Seal(nil, frame)
		},
		"reflected":           func(_, a, _, _ Keys) []byte { return a.Out.Seal(nil, frame) },
		"of another stream":   func(_, _, d, _ Keys) []byte { return d.Out.Seal(nil, frame) },
		"cut short":           func(d, _, _, _ Keys) []byte { b := d.Out.Seal(nil, frame); return b[:len(b)-1] },
		"shorter than a tag":  func(_, _, _, _ Keys) []byte { return []byte("x") },
		"with a bit flipped":  func(d, _, _, _ Keys) []byte { b := d.Out.Seal(nil, frame); b[3] ^= 4; return b },
		"of the next key":     func(d, _, _, _ Keys) []byte { d.Out.frames = keyFrames; return d.Out.Seal(nil, frame) },
		"in clear":            func(_, _, _, _ Keys) []byte { return append(bytes.Clone(frame), make([]byte, 16)...) },
		"of the other's past": func(_, _, _, a Keys) []byte { return a.Out.Seal(nil, frame) },
	} {
		d, a, err := pair(ring, ring)
		if err != nil {
			t.Fatal(err)
		}
		otherD, otherA, err := pair(ring, ring)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.In.Open(attack(d, a, otherD, otherA)); !errors.Is(err, ErrForged) {
			t.Errorf("a frame that was %s opened: %q, %v", name, got, err)
		}
	}
}

// TestChangedOpenings: a change of either opening ends the stream, also one that makes the ends
// choose an older secret.
func TestChangedOpenings(t *testing.T) {
	old, young := New(), New()
	ring := ringOf(t, young, old)
	for i := range OpeningLength {
		d, a := ring.Begin(true), ring.Begin(false)
		changed := bytes.Clone(d.Opening())
		changed[i] ^= 1
		if i == namesAt {
			copy(changed[namesAt:], changed[namesAt+4:namesAt+8]) // the old one alone
		}
		ak, err := a.Finish(changed)
		if err != nil {
			continue
		}
		dk, err := d.Finish(a.Opening())
		if err != nil {
			continue
		}
		if got, err := ak.In.Open(dk.Out.Seal(nil, []byte("x"))); err == nil {
			t.Errorf("byte %d was changed, and a frame opened: %q", i, got)
		}
	}
}

// TestScopesDiffer: the keys of another cluster do not open, with the same secret.
func TestScopesDiffer(t *testing.T) {
	secret := New()
	one, two := NewRing("1 a b", secretsOf(t, secret)), NewRing("1 a c", secretsOf(t, secret))
	if _, _, err := pair(one, two); !errors.Is(err, ErrScope) {
		t.Errorf("a stream to another cluster: %v", err)
	}
	two.digest = one.digest // a liar
	d, a, err := pair(one, two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.In.Open(d.Out.Seal(nil, []byte("x"))); !errors.Is(err, ErrForged) {
		t.Errorf("a frame of another cluster opened: %v", err)
	}
	if _, err := two.NewReceiver().Open(one.NewSender().Seal(nil, []byte("x"))); !errors.Is(err, ErrForged) {
		t.Errorf("a datagram of another cluster opened: %v", err)
	}
}

// TestNoKeyAndNonceTwice: over restarts, and with each secret.
func TestNoKeyAndNonceTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := []string{New(), New()}
		secrets, err := Parse([]byte(strings.Join(texts, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		ring := NewRing(scope, secrets)
		seen := map[string]bool{}
		sender := ring.NewSender()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				sender = ring.NewSender() // a restart: neither disk nor clock matters
			case 1:
				secrets = []Secret{secrets[1], secrets[0]}
				ring.Replace(secrets)
			case 2:
				sender.counter = max(sender.counter, keyFrames-uint64(rapid.IntRange(0, 2).Draw(t, "left")))
			default:
				b := sender.Seal(nil, []byte("x"))
				if clear := string(b[:clearLength]); seen[clear] {
					t.Fatalf("key and nonce of %x came twice", clear)
				} else {
					seen[clear] = true
				}
			}
		}
	})
}

// TestDatagramsOpenOnce compares the receiver with a set of all that arrived.
func TestDatagramsOpenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets, err := Parse([]byte(New()))
		if err != nil {
			t.Fatal(err)
		}
		ring := NewRing(scope, secrets)
		sender, receiver := ring.NewSender(), ring.NewReceiver()
		var sent [][]byte
		opened := map[int]bool{}
		highest := -1
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // many are lost
				for range rapid.SampledFrom([]int{1, 63, 64, 65, windowBits - 64, windowBits, 3 * windowBits}).Draw(t, "lost") {
					sender.counter++
					sent = append(sent, nil)
				}
			case 1:
				sent = append(sent, sender.Seal(nil, []byte("x")))
			default:
				if len(sent) == 0 {
					continue
				}
				i := rapid.IntRange(max(0, len(sent)-windowBits-70), len(sent)-1).Draw(t, "which")
				if sent[i] == nil {
					continue
				}
				_, err := receiver.Open(bytes.Clone(sent[i]))
				old := highest-i >= windowBits-64
				if want := !opened[i] && !old; (err == nil) != want || err != nil && !errors.Is(err, ErrReplayed) {
					t.Fatalf("datagram %d with %d as the highest, arrived before: %v: %v", i, highest, opened[i], err)
				}
				if err == nil {
					opened[i], highest = true, max(highest, i)
				}
			}
		}
	})
}

func TestWindowEdges(t *testing.T) {
	for _, jump := range []uint64{1, 62, 63, 64, 65, windowBits - 65, windowBits - 64, windowBits - 1, windowBits, windowBits + 1, 1 << 40} {
		var w window
		take := func(counter uint64, want bool, what string) {
			t.Helper()
			if got := w.fresh(counter); got != want {
				t.Errorf("after a jump of %d, %s: fresh %v, want %v", jump, what, got, want)
			}
			if want {
				w.mark(counter)
			}
		}
		for i := range uint64(200) {
			take(i, true, "in order")
			take(i, false, "twice")
		}
		take(199+jump, true, "the jump")
		take(199+jump, false, "the jump twice")
		take(199, false, "before the jump")
		if jump > 1 {
			take(199+jump-1, true, "behind a jump")
			take(199+jump-1, false, "behind a jump, twice")
		}
		if jump > windowBits-64 {
			take(199+jump-(windowBits-64)+1, true, "the oldest that the window tells")
			take(199+jump-(windowBits-64), false, "what is older")
		}
		take(1<<64-1, false, "the last counter, which has no next")
	}
}

// TestForgedDatagrams: what does not open leaves nothing behind.
func TestForgedDatagrams(t *testing.T) {
	ring := ringOf(t, New())
	sender, receiver := ring.NewSender(), ring.NewReceiver()
	good := sender.Seal(nil, []byte("a datagram"))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if got, err := receiver.Open(bad); err == nil {
			t.Fatalf("byte %d was changed, and it opened: %q", i, got)
		}
		if _, err := receiver.Open(bytes.Clone(good[:i])); !errors.Is(err, ErrPlain) && !errors.Is(err, ErrForged) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	if len(receiver.young) != 0 {
		t.Errorf("%d forged senders are remembered", len(receiver.young))
	}
	if got, err := receiver.Open(bytes.Clone(good)); err != nil || string(got) != "a datagram" {
		t.Errorf("%q, %v", got, err)
	}
	mismatch := (*KeyError)(nil)
	if _, err := ringOf(t, New()).NewReceiver().Open(good); !errors.As(err, &mismatch) {
		t.Errorf("another secret: %v", err)
	}
}

// TestSendersAreBounded: those that were heard lately stay, with their windows.
func TestSendersAreBounded(t *testing.T) {
	ring := ringOf(t, New())
	receiver := ring.NewReceiver()
	steady := ring.NewSender()
	first := steady.Seal(nil, nil)
	if _, err := receiver.Open(bytes.Clone(first)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * sendersMax {
		receiver.remember(who{salt: salt{byte(i), byte(i >> 8), byte(i >> 16)}}, &sender{})
		if i%1000 == 0 {
			if _, err := receiver.Open(steady.Seal(nil, nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(receiver.young) + len(receiver.old); n > 2*sendersMax {
		t.Errorf("%d senders are remembered", n)
	}
	if _, err := receiver.Open(first); !errors.Is(err, ErrReplayed) {
		t.Errorf("the window of a sender that is heard is forgotten: %v", err)
	}
}

func FuzzReceiver(f *testing.F) {
	secrets := secretsOf(f, "one secret of a test, known to all")
	ring := NewRing(scope, secrets)
	f.Add(ring.NewSender().Seal(nil, []byte("x")))
	f.Add([]byte("S\x01"))
	receiver := ring.NewReceiver()
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := receiver.Open(bytes.Clone(b)); err == nil && !SealedDatagram(b) {
			t.Fatalf("%x opened", b)
		}
	})
}

func FuzzOpening(f *testing.F) {
	ring := NewRing(scope, secretsOf(f, "one secret of a test, known to all"))
	f.Add(ring.Begin(true).Opening())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := ring.Begin(false)
		k, err := h.Finish(b)
		if err != nil {
			return
		}
		if _, err := k.In.Open(b); err == nil {
			t.Fatalf("%x opened", b)
		}
	})
}

func BenchmarkStreamFrames(b *testing.B) {
	for _, size := range []int{256, 1 << 10, 4 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			ring := ringOf(b, New())
			d, a, err := pair(ring, ring)
			if err != nil {
				b.Fatal(err)
			}
			frame := make([]byte, size)
			var sealed []byte
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				sealed = d.Out.Seal(sealed[:0], frame)
				if _, err := a.In.Open(sealed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHandshake(b *testing.B) {
	ring := ringOf(b, New())
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := pair(ring, ring); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDatagram(b *testing.B) {
	ring := ringOf(b, New())
	sender, receiver := ring.NewSender(), ring.NewReceiver()
	frame := make([]byte, 200)
	var sealed []byte
	b.ReportAllocs()
	for b.Loop() {
		sealed = sender.Seal(sealed[:0], frame)
		if _, err := receiver.Open(sealed); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStranger is a datagram of a salt that was never heard, made without the secret.
func BenchmarkStranger(b *testing.B) {
	ring := ringOf(b, New())
	receiver := ring.NewReceiver()
	one := ring.NewSender().Seal(nil, make([]byte, 200))
	one[len(one)-1] ^= 1
	work := make([]byte, len(one))
	b.ReportAllocs()
	for b.Loop() {
		copy(work, one)
		if _, err := receiver.Open(work); err == nil {
			b.Fatal("it opened")
		}
	}
}
