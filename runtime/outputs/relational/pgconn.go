package relational

import (
	"context"
	"crypto/rand"
	"strings"

	"hyperscale/runtime/outputs"
	"hyperscale/runtime/protocol/http1"
	"hyperscale/runtime/protocol/postgres"
)

// openPostgres connects and proves the user. The password is read anew each time.
func (s *server) openPostgres(ctx context.Context) (database, *failure) {
	password, fail := s.proof()
	if fail != nil {
		return nil, fail
	}
	var random [18]byte
	_, _ = rand.Read(random[:]) // it never fails
	g := postgres.New(postgres.Config{User: s.user, Database: s.database, Password: password, TLS: s.tls != nil, Leaves: true, AnswerMax: answerMax}).Greet(random)
	w, fail := s.connect(ctx, g)
	if fail != nil {
		return nil, fail
	}
	c := w.Talk.(*postgres.Conn)
	w.judge = judgePostgres
	w.outcome = func() ([]byte, error) { return c.Outcome().Body, c.Outcome().Err }
	w.operate = func(all []statement, keeps bool) error {
		return c.Operate(postgresOperation(all), postgres.Order{Keeps: keeps})
	}
	return w, nil
}

// postgresOperation is statements as one transaction. A pooler of transactions keeps no prepared ones.
func postgresOperation(all []statement) *postgres.Operation {
	var of []postgres.Statement
	for _, s := range all {
		one := postgres.Statement{Text: s.text}
		for _, v := range s.args {
			if v == nil {
				one.Args = append(one.Args, nil)
				continue
			}
			one.Args = append(one.Args, postgres.Text(*v))
		}
		of = append(of, one)
	}
	return postgres.Compile(postgres.ModeUnnamed, of, true)
}

// judgePostgres says what an error of the server means. Nothing of the transaction is there.
func judgePostgres(err error) *failure {
	code, _ := strings.CutPrefix(string(http1.KindOf(err)), "server ")
	f := &failure{outputs.VerdictAgain, code + ": " + own(err.Error())}
	if len(code) < 2 {
		return f
	}
	switch code[:2] {
	case "21", "22", "23", "54": // data, constraints, limits
		f.verdict = outputs.VerdictRejected
	case "28":
		f.verdict = outputs.VerdictDenied
	}
	return f
}
