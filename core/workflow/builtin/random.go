package builtin

import (
	"go.starlark.net/starlark"
	"hyperscale/core/workflow/guard"
	"hyperscale/core/workflow/language"
)

// Random is vu.random.
func Random() *language.Namespace {
	l := newLists()
	return language.NewNamespace("vu.random", starlark.StringDict{
		"int": &guard.Func{Word: "int", Call: randomInt}, "float": &guard.Func{Word: "float", Call: randomFloat}, "choice": &guard.Func{Word: "choice", Call: randomChoice},
		"shuffle": &guard.Func{Word: "shuffle", Call: randomShuffle}, "weighted": &guard.Func{Word: "weighted", Call: randomWeighted},
		"string": &guard.Func{Word: "string", Call: randomString}, "words": &guard.Func{Word: "words", Call: l.manyWords},
		"name": invented("name", l.name), "email": invented("email", l.email), "word": invented("word", l.word),
	})
}

// randomInt draws from [low, high], both included.
func randomInt(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [2]starlark.Value
	if err := language.Bind("vu.random.int", []string{"low", "high"}, 2, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	var bound [2]int64
	for i := range in {
		n, ok := in[i].(starlark.Int)
		if ok {
			bound[i], ok = n.Int64()
		}
		if !ok || bound[i] > 1<<62 || bound[i] < -1<<62 {
			return nil, language.Faultf("vu.random.int takes two whole numbers, low and high")
		}
	}
	if bound[0] > bound[1] {
		return nil, language.Faultf("vu.random.int: low = %d is above high = %d", bound[0], bound[1])
	}
	n := guard.CallerOf(thread).Rand().N(uint64(bound[1]) - uint64(bound[0]) + 1)
	return starlark.MakeInt64(int64(uint64(bound[0]) + n)), nil
}

func randomChoice(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.random.choice", []string{"list"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	from, ok := in[0].(starlark.Indexable)
	if !ok || from.Len() == 0 {
		return nil, language.Faultf("vu.random.choice takes a list that is not empty")
	}
	return from.Index(guard.CallerOf(thread).Rand().Int(from.Len())), nil
}

// randomShuffle returns a new list: values that a file declares are frozen.
func randomShuffle(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var in [1]starlark.Value
	if err := language.Bind("vu.random.shuffle", []string{"list"}, 1, args, kwargs, in[:]); err != nil {
		return nil, err
	}
	if in[0] == nil {
		return nil, language.Faultf("vu.random.shuffle takes a list")
	}
	if err := guard.MeterOf(thread).Copied(thread, in[0]); err != nil {
		return nil, err
	}
	values, err := language.List("vu.random.shuffle", "list", "anything", in[0])
	if err != nil {
		return nil, err
	}
	out := append([]starlark.Value{}, values...)
	guard.CallerOf(thread).Rand().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return starlark.NewList(out), nil
}
