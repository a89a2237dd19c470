package extract

// GraphQLExpect is the condition of every answer to a query: a server reports errors under
// status 200.
func GraphQLExpect() Expect {
	path := func(source string) jsonPath {
		p, err := parsePath("graphql", source)
		if err != nil {
			panic(err) // these two are valid
		}
		return p
	}
	return Expect{Kind: ExpectGraphQL, path: path("$.errors"), detail: path("$.errors[0].message")}
}

// graphqlFails returns what an answer says about errors.
func (e *Expect) graphqlFails(r *View) string {
	raw, why := e.path.find(r.Body)
	switch {
	case why != "" && !isObject(r.Body):
		return "the answer is not GraphQL: " + excerpt(r.Body)
	case why != "" || string(raw) == "null" || string(raw) == "[]":
		return ""
	}
	if text, why := e.detail.text(r); why == "" {
		return "the answer has errors: " + excerpt(text)
	}
	return "the answer has errors: " + excerpt(raw)
}

func isObject(body []byte) bool {
	at := skipSpace(body, 0)
	return at < len(body) && body[at] == '{'
}
