package guard

import (
	"fmt"
	"hyperscale/core/workflow/language"

	"go.starlark.net/syntax"
)

// rewriter replaces, in one file, the expressions that can make much out of little with calls
// of guards, which check and charge first. Positions stay.
type rewriter struct {
	src   *language.Sources
	temps int
}

// Rewrite changes a parsed file so that everything that can make much out of little is metered.
func Rewrite(src *language.Sources, f *syntax.File) { (&rewriter{src: src}).file(f) }

func (r *rewriter) file(f *syntax.File) { f.Stmts = r.block(f.Stmts) }

func (r *rewriter) block(in []syntax.Stmt) []syntax.Stmt {
	var out []syntax.Stmt // nil stays nil: an if without else has a nil False
	for _, stmt := range in {
		switch stmt := stmt.(type) {
		case *syntax.AssignStmt:
			out = append(out, r.assign(stmt)...)
			continue
		case *syntax.DefStmt:
			r.params(stmt.Params)
			stmt.Body = r.block(stmt.Body)
			if rest := restOf(stmt.Params); rest != nil {
				check := &syntax.ExprStmt{X: guardCall(rest.NamePos, language.Mark+"tuple", again(rest))}
				stmt.Body = append([]syntax.Stmt{check}, stmt.Body...)
			}
		case *syntax.ExprStmt:
			stmt.X = r.expr(stmt.X)
		case *syntax.ForStmt:
			r.target(stmt.Vars)
			stmt.X, stmt.Body = r.expr(stmt.X), r.block(stmt.Body)
		case *syntax.WhileStmt:
			stmt.Cond, stmt.Body = r.expr(stmt.Cond), r.block(stmt.Body)
		case *syntax.IfStmt:
			stmt.Cond = r.expr(stmt.Cond)
			stmt.True, stmt.False = r.block(stmt.True), r.block(stmt.False)
		case *syntax.ReturnStmt:
			stmt.Result = r.expr(stmt.Result)
		}
		out = append(out, stmt)
	}
	return out
}

// assign guards `x op= y` by replacing y with a guard of both, which returns y. An x that is
// more than a name is split first, so that it is evaluated once.
func (r *rewriter) assign(stmt *syntax.AssignStmt) []syntax.Stmt {
	r.target(stmt.LHS)
	stmt.RHS = r.expr(stmt.RHS)
	op, augmented := augments(stmt.Op)
	if !augmented || !guarded(op) || op == syntax.PLUS && isNumber(stmt.RHS) {
		return []syntax.Stmt{stmt}
	}
	for {
		paren, ok := stmt.LHS.(*syntax.ParenExpr)
		if !ok {
			break
		}
		stmt.LHS = paren.X
	}
	var before []syntax.Stmt
	var read syntax.Expr
	switch x := stmt.LHS.(type) {
	case *syntax.Ident:
		read = &syntax.Ident{NamePos: x.NamePos, Name: x.Name}
	case *syntax.IndexExpr:
		before = append(before, r.hold(&x.X, x.Lbrack), r.hold(&x.Y, x.Lbrack))
		read = &syntax.IndexExpr{X: again(x.X), Lbrack: x.Lbrack, Y: again(x.Y), Rbrack: x.Rbrack}
	default:
		return []syntax.Stmt{stmt} // fields cannot be assigned: it fails
	}
	stmt.RHS = guardCall(stmt.OpPos, language.Mark+op.String()+"=", read, stmt.RHS)
	return append(before, stmt)
}

// hold moves an expression into its own variable.
func (r *rewriter) hold(e *syntax.Expr, pos syntax.Position) syntax.Stmt {
	r.temps++
	name := fmt.Sprintf("%s%d", language.Mark, r.temps)
	stmt := &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: pos, Name: name}, RHS: *e}
	*e = &syntax.Ident{NamePos: pos, Name: name}
	return stmt
}

func again(e syntax.Expr) syntax.Expr {
	id := e.(*syntax.Ident)
	return &syntax.Ident{NamePos: id.NamePos, Name: id.Name}
}

// target rewrites the expressions inside the left side of an assignment.
func (r *rewriter) target(e syntax.Expr) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		r.target(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	case *syntax.DotExpr:
		e.X = r.expr(e.X)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			r.target(x)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			r.target(x)
		}
	}
}

// params rewrites the defaults of parameters.
func (r *rewriter) params(params []syntax.Expr) {
	for _, p := range params {
		if p, ok := p.(*syntax.BinaryExpr); ok {
			p.Y = r.expr(p.Y)
		}
	}
}

func (r *rewriter) exprs(list []syntax.Expr) {
	for i, e := range list {
		list[i] = r.expr(e)
	}
}

// expr returns the replacement of e.
func (r *rewriter) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return r.binary(e)
	case *syntax.CallExpr:
		r.call(e)
	case *syntax.DotExpr:
		e.X = r.expr(e.X)
		if meteredMethod(e.Name.Name) {
			return guardCall(e.Dot, language.Mark+"dot", e.X, &syntax.Literal{Token: syntax.STRING, TokenPos: e.NamePos, Raw: e.Name.Name, Value: e.Name.Name})
		}
	case *syntax.SliceExpr:
		e.X = guardCall(e.Lbrack, language.Mark+"copy", r.expr(e.X))
		e.Lo, e.Hi, e.Step = r.expr(e.Lo), r.expr(e.Hi), r.expr(e.Step)
	case *syntax.ParenExpr:
		e.X = r.expr(e.X)
	case *syntax.Comprehension:
		r.comprehension(e)
	case *syntax.DictExpr:
		r.exprs(e.List)
	case *syntax.DictEntry:
		e.Key, e.Value = r.expr(e.Key), r.expr(e.Value)
	case *syntax.LambdaExpr:
		r.params(e.Params)
		e.Body = r.expr(e.Body)
		if rest := restOf(e.Params); rest != nil {
			e.Body = guardCall(rest.NamePos, language.Mark+"tuple", e.Body)
		}
	case *syntax.ListExpr:
		r.exprs(e.List)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = r.expr(e.Cond), r.expr(e.True), r.expr(e.False)
	case *syntax.TupleExpr:
		return r.tuple(e)
	case *syntax.UnaryExpr:
		e.X = r.expr(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	}
	return e
}

// tuple guards tuples that may contain tuples: hashing or freezing those walks shared ones as
// if each were another one.
func (r *rewriter) tuple(e *syntax.TupleExpr) syntax.Expr {
	r.exprs(e.List)
	for _, x := range e.List {
		if _, ok := x.(*syntax.Literal); !ok {
			pos := e.Lparen
			if !pos.IsValid() {
				pos = syntax.Start(e.List[0])
			}
			return guardCall(pos, language.Mark+"tuple", e)
		}
	}
	return e
}

// restOf returns the parameter that takes the remaining arguments as a tuple; nil: there is
// none.
func restOf(params []syntax.Expr) *syntax.Ident {
	for _, p := range params {
		if star, ok := p.(*syntax.UnaryExpr); ok && star.Op == syntax.STAR {
			rest, _ := star.X.(*syntax.Ident)
			return rest
		}
	}
	return nil
}

func (r *rewriter) binary(e *syntax.BinaryExpr) syntax.Expr {
	e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	if !guarded(e.Op) || e.Op == syntax.PLUS && (isNumber(e.X) || isNumber(e.Y)) {
		return e
	}
	return guardCall(e.OpPos, language.Mark+e.Op.String(), e.X, e.Y)
}

func (r *rewriter) call(e *syntax.CallExpr) {
	r.src.Calls[language.Place{File: e.Lparen.Filename(), Line: e.Lparen.Line, Col: e.Lparen.Col}] = e
	e.Fn = r.expr(e.Fn)
	for i, arg := range e.Args {
		switch arg := arg.(type) {
		case *syntax.BinaryExpr:
			if arg.Op == syntax.EQ {
				arg.Y = r.expr(arg.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				arg.X = guardCall(arg.OpPos, language.Mark+"spread", r.expr(arg.X))
				continue
			}
		}
		e.Args[i] = r.expr(arg)
	}
}

func (r *rewriter) comprehension(e *syntax.Comprehension) {
	e.Body = r.expr(e.Body)
	for _, clause := range e.Clauses {
		switch clause := clause.(type) {
		case *syntax.ForClause:
			r.target(clause.Vars)
			clause.X = r.expr(clause.X)
		case *syntax.IfClause:
			clause.Cond = r.expr(clause.Cond)
		}
	}
}

// guardCall returns the call of a guard. All its positions are the operator's: asking the
// operands for theirs would be quadratic in a long chain.
func guardCall(pos syntax.Position, fn string, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: fn}, Lparen: pos, Args: args, Rparen: pos}
}

// guarded reports the operators whose result can be much larger than a step's worth of work.
func guarded(op syntax.Token) bool {
	switch op {
	case syntax.PLUS, syntax.STAR, syntax.PERCENT, syntax.PIPE, syntax.LTLT:
		return true
	}
	return false
}

func augments(op syntax.Token) (syntax.Token, bool) {
	switch op {
	case syntax.PLUS_EQ:
		return syntax.PLUS, true
	case syntax.STAR_EQ:
		return syntax.STAR, true
	case syntax.PERCENT_EQ:
		return syntax.PERCENT, true
	case syntax.PIPE_EQ:
		return syntax.PIPE, true
	case syntax.LTLT_EQ:
		return syntax.LTLT, true
	}
	return op, false
}

func isNumber(e syntax.Expr) bool {
	literal, ok := e.(*syntax.Literal)
	return ok && (literal.Token == syntax.INT || literal.Token == syntax.FLOAT)
}
