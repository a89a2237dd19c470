package place

import "hyperscale/core/node"

// tree is a treap: a search tree in the order of the ranking, and a heap by weight. The weights
// are hashes of the names, so that its shape depends only on the workers, and its expected
// depth is O(log workers). A nil tree is empty. Each walk counts the nodes that it visits.
type tree struct {
	Worker
	weight      uint64
	size        int
	left, right *tree
}

func (t *tree) len() int {
	if t == nil {
		return 0
	}
	return t.size
}

// measured returns t with the size computed from its branches.
func (t *tree) measured() *tree {
	t.size = 1 + t.left.len() + t.right.len()
	return t
}

func (t *tree) insert(w Worker, visits *uint64) *tree {
	before, after := t.split(w, visits)
	one := &tree{Worker: w, weight: node.MixString(1, string(w.ID)), size: 1}
	return join(join(before, one, visits), after, visits)
}

// remove removes a worker that is in the tree.
func (t *tree) remove(w Worker, visits *uint64) *tree {
	*visits++
	switch c := w.compare(t.Worker); {
	case c < 0:
		t.left = t.left.remove(w, visits)
	case c > 0:
		t.right = t.right.remove(w, visits)
	default:
		return join(t.left, t.right, visits)
	}
	return t.measured()
}

// split splits a tree into the workers that rank before a given one, and the others.
func (t *tree) split(at Worker, visits *uint64) (before, after *tree) {
	*visits++
	switch {
	case t == nil:
		return nil, nil
	case t.Worker.compare(at) < 0:
		t.right, after = t.right.split(at, visits)
		return t.measured(), after
	}
	before, t.left = t.left.split(at, visits)
	return before, t.measured()
}

// join merges two trees; all workers of the first rank before those of the second.
func join(before, after *tree, visits *uint64) *tree {
	*visits++
	switch {
	case before == nil:
		return after
	case after == nil:
		return before
	case before.weight > after.weight:
		before.right = join(before.right, after, visits)
		return before.measured()
	}
	after.left = join(before, after.left, visits)
	return after.measured()
}

// at returns the worker of a rank, counted from 0.
func (t *tree) at(rank int, visits *uint64) Worker {
	for {
		*visits++
		switch left := t.left.len(); {
		case rank < left:
			t = t.left
		case rank == left:
			return t.Worker
		default:
			t, rank = t.right, rank-left-1
		}
	}
}

// rank counts the workers before one.
func (t *tree) rank(w Worker, visits *uint64) (n int) {
	for t != nil {
		*visits++
		if t.Worker.compare(w) < 0 {
			n, t = n+t.left.len()+1, t.right
		} else {
			t = t.left
		}
	}
	return n
}

// atLeast counts the workers with at least so many free cores, which are the first ranks.
func (t *tree) atLeast(cores uint32, visits *uint64) (n int) {
	for t != nil {
		*visits++
		if t.Free >= cores {
			n, t = n+t.left.len()+1, t.right
		} else {
			t = t.left
		}
	}
	return n
}
