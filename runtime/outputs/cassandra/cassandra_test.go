package cassandra

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/outputs/outputstest"
	"hyperscale/runtime/protocol/hostile/authority"
)

// CQL-1: of two rows of a key the one of the greater version has the greater write time, and a DELETE of later than the job's start has a
// greater one than both.
func TestWriteTimesFollowVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := outputs.Row{Started: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "started"))}
		less := rapid.Uint64Range(0, 1<<50-1).Draw(t, "less")
		more := rapid.Uint64Range(less+1, 1<<50).Draw(t, "more")
		r.Version.Set(rapid.Uint64().Draw(t, "epoch"), less)
		before := writeTime(&r)
		r.Version.Set(rapid.Uint64().Draw(t, "later epoch"), more)
		if after := writeTime(&r); before < 1 || after <= before {
			t.Fatalf("the greater version has no greater write time: revision %d has %d, %d has %d", less, before, more, after)
		}
		if after := writeTime(&r); more < 1_000_000 && after > r.Started.Add(time.Second).UnixMicro()+1 {
			t.Fatalf("%d is later than a second behind the start", after)
		}
	})
}

func keyOf(r *outputs.Row) (key string) {
	for _, c := range keys() {
		key += fmt.Sprintf("%q/", c.from(r))
	}
	return key
}

// Rows that differ in a part of their key are two; the job's row, a result and a check are one, whenever they end.
func TestKeys(t *testing.T) {
	rows := outputstest.Rows("a")
	known := map[string]string{}
	for i := range rows {
		r := &rows[i]
		if other, has := known[keyOf(r)]; has {
			t.Errorf("%s and %s have one key", r.Key(), other)
		}
		known[keyOf(r)] = r.Key()
		later := *r
		later.To += 25 * time.Hour
		if same := keyOf(&later) == keyOf(r); same == (r.Kind == outputs.RowWindow || r.Kind == outputs.RowLost) {
			t.Errorf("%s that ends later: the same key is %v", r.Key(), same)
		}
	}
}

// CQL-2: a window is in the partition of the day on which it begins.
func TestDays(t *testing.T) {
	midnight := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	r := outputs.Row{Kind: outputs.RowWindow, Started: midnight.Add(-10 * time.Second), To: 10 * time.Second}
	before := dayOf(&r)
	require.Equal(t, uint32(epochDay+midnight.Unix()/86400-1), before)
	r.From, r.To = 10*time.Second, 20*time.Second
	require.Equal(t, before+1, dayOf(&r))
	r.Kind = outputs.RowResult
	require.Equal(t, before, dayOf(&r))
}

// said is the body of an error.
func said(code int, text string) reader {
	return reader{b: appendText(binary.BigEndian.AppendUint32(nil, uint32(code)), text)}
}

// CQL-4: what a server cannot do now is tried again, what it never takes is rejected.
func TestJudge(t *testing.T) {
	for code, want := range map[int]outputs.Verdict{
		0x0000: outputs.VerdictAgain, 0x000A: outputs.VerdictAgain, 0x0100: outputs.VerdictDenied, 0x1000: outputs.VerdictAgain, 0x1001: outputs.VerdictAgain, 0x1002: outputs.VerdictAgain,
		0x1003: outputs.VerdictAgain, 0x1100: outputs.VerdictAgain, 0x1200: outputs.VerdictAgain, 0x1300: outputs.VerdictAgain, 0x1500: outputs.VerdictAgain, 0x2000: outputs.VerdictRejected,
		0x2100: outputs.VerdictDenied, 0x2200: outputs.VerdictRejected, 0x2300: outputs.VerdictRejected, 0x2400: outputs.VerdictAgain, 0x2500: outputs.VerdictAgain, 0x7777: outputs.VerdictAgain,
	} {
		fail := judge(said(code, "what it says"), "")
		require.Equal(t, want, fail.verdict, "0x%04X", code)
		require.Contains(t, fail.why, fmt.Sprintf("0x%04X: what it says", code))
	}
	require.Equal(t, outputs.VerdictUnclear, judge(reader{b: []byte{0}}, "").verdict)
	require.LessOrEqual(t, len(judge(said(0, strings.Repeat("\u00e9", 30_000)), "").why), whyMax+15)
}

// answer is an answer with flags.
func answer(flags byte, stream int, op opcode, body []byte) []byte {
	out := appendFrame(nil, stream, op, body)
	out[0], out[1] = version|answers, flags
	return out
}

// What stands before a body is skipped.
func TestAnswersWithMoreThanABody(t *testing.T) {
	more := append(make([]byte, 16), appendText([]byte{0, 1}, "a warning")...)
	more = append(appendText(append(more, 0, 1), "name"), 0, 0, 0, 1, 7)
	f, err := readFrame(bytes.NewReader(answer(flagTracing|flagWarning|flagPayload, 5, opResult, append(more, 1, 2, 3))))
	require.NoError(t, err)
	require.Equal(t, frame{opResult, 5, reader{b: []byte{1, 2, 3}}}, f)
	for what, b := range map[string][]byte{"HTTP": []byte("HTTP/1.1 400 Bad Request\r\n"), "a request": appendFrame(nil, 0, opReady, nil), "compressed": answer(flagCompressed, 0, opReady, nil), "short": answer(flagTracing, 0, opReady, []byte{1})} {
		_, err := readFrame(bytes.NewReader(b))
		require.ErrorIs(t, err, errAnswer, what)
	}
	_, err = readFrame(bytes.NewReader([]byte{0x84, 0, 0, 0, 0, 0xff, 0, 0, 0}))
	require.ErrorContains(t, err, "and the output takes")
	_, err = readFrame(bytes.NewReader(answer(0, 0, opReady, []byte{1, 2})[:10]))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// What a server says may be anything.
func FuzzAnswer(f *testing.F) {
	f.Add(answer(0, 0, opError, said(0x2200, "no").b))
	rows := []byte{0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 1, 'k', 0, 1, 't', 0, 3, 'r', 'o', 'w', 0, 13, 0, 0, 0, 1, 0, 0, 0, 2, '{', '}'}
	f.Add(answer(flagWarning, 0, opResult, append([]byte{0, 0}, rows...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := readFrame(bytes.NewReader(b))
		if err != nil {
			return
		}
		_ = judge(frame.body, "secret")
		values, _, err := rowsOf(frame.body)
		if size := 0; err == nil {
			for _, v := range values {
				size += len(v) + 4
			}
			if size > len(b) {
				t.Errorf("%d bytes of values in %d", size, len(b))
			}
		}
	})
}

// node answers each request as says does, until it returns nothing.
func node(t *testing.T, secure *tls.Config, says func(op opcode, body []byte) (opcode, []byte), ofErrors ...int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		for in := bufio.NewReader(c); ; {
			head := make([]byte, headLen)
			if _, err := io.ReadFull(in, head); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(head[5:]))
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			op, said := says(opcode(head[4]), body)
			stream := int(binary.BigEndian.Uint16(head[2:]))
			if op == opError && len(ofErrors) > 0 {
				stream = ofErrors[0]
			}
			if _, err := c.Write(answer(0, stream, op, said)); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// trusting is a node that wants no proof.
func trusting(op opcode, _ []byte) (opcode, []byte) {
	switch op {
	case opStartup:
		return opReady, nil
	case opPrepare:
		return opResult, append([]byte{0, 0, 0, resultPrepared}, appendText(nil, "id")...)
	}
	return opResult, []byte{0, 0, 0, 1}
}

// checked is what the check of a place says.
func checked(t *testing.T, place string) error {
	t.Helper()
	k := Kind()
	s, err := outputs.Parse(&k, place)
	require.NoError(t, err)
	sink, err := k.Open(s)
	if err != nil {
		return err
	}
	defer sink.Close()
	return sink.Check(t.Context())
}

// TLS verifies the name of the server and its authority.
func TestTLS(t *testing.T) {
	_, _, ca := authority.Files()
	name := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(name, ca, 0o600))
	at := node(t, authority.Honest(), trusting)
	require.NoError(t, checked(t, "cassandras://"+at+"/load,ca="+name))
	require.ErrorContains(t, checked(t, "cassandras://"+at+"/load"), "certificate")
	require.ErrorContains(t, checked(t, "cassandras://"+at+"/load,ca=none.pem"), "none.pem")
}

// CQL-5, and OUT-5: a password goes to no server in clear but to one of this machine, and a server that repeats it does not show it.
func TestPasswords(t *testing.T) {
	const secret = "not-this-one-1f3a"
	t.Setenv("CQL_PW", secret)
	for _, host := range []string{"cassandra.internal", "127.0.0.1,cassandra.internal", "10.0.0.1:9042"} {
		require.ErrorContains(t, checked(t, "cassandra://load@"+host+"/load,password_env=CQL_PW"), "write cassandras://")
	}
	asked := 0
	at := node(t, nil, func(op opcode, body []byte) (opcode, []byte) {
		if asked++; op == opStartup {
			return opAuthenticate, appendText(nil, "org.apache.cassandra.auth.PasswordAuthenticator")
		}
		if want := "\x00load\x00" + secret; op != opAuthResponse || string(body[4:]) != want {
			t.Errorf("the token is %q", body)
		}
		return opError, said(codeCredentials, secret+" is wrong").b
	})
	err := checked(t, "cassandra://load@"+at+"/load,password_env=CQL_PW")
	require.ErrorContains(t, err, "*** is wrong")
	require.Equal(t, 2, asked)
	for length := whyMax - len(secret) - 1; length <= whyMax; length++ { // an excerpt ends within the password
		at := node(t, nil, func(op opcode, body []byte) (opcode, []byte) {
			switch op {
			case opStartup:
				return opAuthenticate, appendText(nil, "org.apache.cassandra.auth.PasswordAuthenticator")
			case opAuthResponse:
				return opAuthSuccess, appendLong(nil, "")
			}
			return opError, said(codeUnauthorized, strings.Repeat("x", length)+secret+" may not").b // behind the greeting, too
		})
		err := checked(t, "cassandra://load@"+at+"/load,password_env=CQL_PW")
		require.ErrorContains(t, err, "0x2100: xxx")
		require.NotContains(t, err.Error(), "xn", "%d bytes before the password", length)
	}
}

// The table of days names a partition once a row of it goes out, and once for all rows of a batch: a row that the output rejects by
// itself brings no partition, and reading back would not find what follows it there.
func TestEachPartitionHasItsDay(t *testing.T) {
	executed := map[string]int{}
	at := node(t, nil, func(op opcode, body []byte) (opcode, []byte) {
		switch op {
		case opPrepare:
			id := "row"
			if bytes.Contains(body, []byte("hyperscale_days")) {
				id = "day"
			}
			return opResult, append([]byte{0, 0, 0, resultPrepared}, appendText(nil, id)...)
		case opExecute:
			executed[string(body[2:5])]++
		}
		return trusting(op, body)
	})
	k := Kind()
	s, err := outputs.Parse(&k, "cassandra://"+at+"/load")
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	defer sink.Close()
	rows := outputstest.Rows("a")[:3]
	huge := rows[2]
	huge.Step = strings.Repeat("x", rowMax)
	deliver := func(number uint64, rows ...outputs.Row) outputs.Outcome {
		return sink.Deliver(t.Context(), outputs.Batch{Number: number, Try: 1, Rows: rows})
	}
	out := deliver(1, huge)
	require.Equal(t, []any{outputs.VerdictRejected, []int{0}}, []any{out.Verdict, out.Rows})
	require.Empty(t, executed)
	require.Equal(t, outputs.VerdictDelivered, deliver(2, rows...).Verdict)
	require.Equal(t, map[string]int{"day": 1, "row": 3}, executed)
	require.Equal(t, outputs.VerdictDelivered, deliver(3, rows...).Verdict)
	require.Equal(t, map[string]int{"day": 1, "row": 6}, executed)
}

// Two answers to one request are none to the other.
func TestAnswersToOtherRequests(t *testing.T) {
	for what, streams := range map[string][]int{"one twice": {0, 0}, "one that was not asked": {0, 2}, "an event": {0, -1}} {
		here, there := net.Pipe()
		go func() {
			in := bufio.NewReader(there)
			for range streams {
				head := make([]byte, headLen)
				_, _ = io.ReadFull(in, head)
				_, _ = io.CopyN(io.Discard, in, int64(binary.BigEndian.Uint32(head[5:])))
			}
			for _, stream := range streams {
				_, _ = there.Write(answer(0, stream, opResult, []byte{0, 0, 0, 1}))
			}
			_ = there.Close()
		}()
		c := &conn{net: here, in: bufio.NewReader(here)}
		_, broken := c.execute(t.Context(), 6, []execution{{[]byte("id"), nil}, {[]byte("id"), nil}})
		require.NotNil(t, broken, what)
		require.Equal(t, outputs.VerdictUnclear, broken.verdict, what)
		c.close()
	}
}

// An error that names no statement, in the middle of rows, rejects none of them: the server has some already.
func TestAnErrorOfNoStatement(t *testing.T) {
	var fails atomic.Bool
	at := node(t, nil, func(op opcode, body []byte) (opcode, []byte) {
		if op == opExecute && fails.Load() {
			return opError, append([]byte{0, 0, 0x22, 0}, appendText(nil, "invalid")...)
		}
		return trusting(op, body)
	}, -1)
	k := Kind()
	s, err := outputs.Parse(&k, "cassandra://"+at+"/load")
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	defer sink.Close()
	fails.Store(true)
	got := sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: outputstest.Rows("a")})
	require.Equal(t, outputs.VerdictUnclear, got.Verdict, got.Why)
}

// A server that completes TLS and says nothing is given up in time. (The race detector looks on.)
func TestTLSAndSilence(t *testing.T) {
	_, _, ca := authority.Files()
	name := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(name, ca, 0o600))
	hangs := make(chan struct{})
	defer close(hangs)
	at := node(t, authority.Honest(), func(opcode, []byte) (opcode, []byte) {
		<-hangs
		return opReady, nil
	})
	k := Kind()
	s, err := outputs.Parse(&k, "cassandras://"+at+"/load,ca="+name)
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	defer sink.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.Error(t, sink.Check(ctx))
}

// A server that answers something else in the middle of rows may have them all.
func TestAServerThatLosesItsWay(t *testing.T) {
	var fails atomic.Bool
	at := node(t, nil, func(op opcode, body []byte) (opcode, []byte) {
		if op == opExecute && fails.Load() {
			return opReady, nil // no answer to an execution
		}
		return trusting(op, body)
	})
	k := Kind()
	s, err := outputs.Parse(&k, "cassandra://"+at+"/load")
	require.NoError(t, err)
	sink, err := k.Open(s)
	require.NoError(t, err)
	defer sink.Close()
	rows := outputstest.Rows("a")
	fails.Store(true)
	require.Equal(t, outputs.VerdictUnclear, sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 1, Rows: rows}).Verdict)
	fails.Store(false)
	require.Equal(t, outputs.VerdictDelivered, sink.Deliver(t.Context(), outputs.Batch{Number: 1, Try: 2, Rows: rows}).Verdict)
}
