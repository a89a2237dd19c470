package mysql

import (
	"crypto/sha512"
	"math/big"
	"slices"
)

// MariaDB's client_ed25519 signs the salt. It is Ed25519 (RFC 8032) but for its secret, which is a password of
// any length where crypto/ed25519 has a seed of 32 bytes. So the curve is here, in whole numbers of math/big.
// Their time depends on the password, which a load test need not hide from its own machine.

// edwards is the curve with what a password's proofs have in common.
type edwards struct {
	prime, order, twice *big.Int   // twice: of the curve's d
	powers              []extended // the base point, doubled again and again
	scalar              *big.Int   // of the password
	prefix              []byte     // of it, for nonces
	public              []byte
}

// extended is a point (RFC 8032, 5.1.4).
type extended struct{ x, y, z, t *big.Int }

func number(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

// newEdwards prepares the proofs of a password.
func newEdwards(password string) *edwards {
	e := &edwards{
		prime: number("57896044618658097711785492504343953926634992332820282019728792003956564819949"),
		order: number("7237005577332262213973186563042994240857116359379907606001950938285454250989"),
		twice: number("16295367250680780974490674513165176452449235426866156013048779062215315747161"),
	}
	x := number("15112221349535400772501151409588531511454012693041857206046113283949847762202")
	y := number("46316835694926478169428394003475163141307993866256225615783033603165251855960")
	p := extended{x, y, big.NewInt(1), e.reduced(new(big.Int).Mul(x, y))}
	for range 256 {
		e.powers = append(e.powers, p)
		p = e.add(p, p)
	}
	sum := sha512.Sum512([]byte(password))
	sum[0] &= 248
	sum[31] = sum[31]&127 | 64
	e.scalar, e.prefix = little(sum[:32]), slices.Clone(sum[32:])
	e.public = e.encoded(e.times(e.scalar))
	return e
}

// little reads a number whose lowest byte is first.
func little(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// appendLittle appends it in 32 bytes.
func appendLittle(dst []byte, n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return append(dst, b...)
}

func (e *edwards) reduced(n *big.Int) *big.Int { return n.Mod(n, e.prime) }

// add adds two points (RFC 8032, 5.1.4).
func (e *edwards) add(p, q extended) extended {
	product := func(a, b *big.Int) *big.Int { return e.reduced(new(big.Int).Mul(a, b)) }
	a := product(new(big.Int).Sub(p.y, p.x), new(big.Int).Sub(q.y, q.x))
	b := product(new(big.Int).Add(p.y, p.x), new(big.Int).Add(q.y, q.x))
	c := product(product(p.t, e.twice), q.t)
	d := product(new(big.Int).Lsh(p.z, 1), q.z)
	less, more := new(big.Int).Sub(b, a), new(big.Int).Add(b, a)
	f, g := new(big.Int).Sub(d, c), new(big.Int).Add(d, c)
	return extended{product(less, f), product(g, more), product(f, g), product(less, more)}
}

// times multiplies the base point.
func (e *edwards) times(n *big.Int) extended {
	sum := extended{big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)}
	for i := range n.BitLen() {
		if n.Bit(i) == 1 {
			sum = e.add(sum, e.powers[i])
		}
	}
	return sum
}

// encoded is a point in 32 bytes (RFC 8032, 5.1.2).
func (e *edwards) encoded(p extended) []byte {
	one := new(big.Int).ModInverse(p.z, e.prime)
	x, y := e.reduced(new(big.Int).Mul(p.x, one)), e.reduced(new(big.Int).Mul(p.y, one))
	b := appendLittle(nil, y)
	b[31] |= byte(x.Bit(0)) << 7
	return b
}

// hashed is a hash as a scalar.
func (e *edwards) hashed(all ...[]byte) *big.Int {
	sum := sha512.Sum512(slices.Concat(all...))
	n := little(sum[:])
	return n.Mod(n, e.order)
}

// sign proves the password for a salt (RFC 8032, 5.1.6).
func (e *edwards) sign(salt []byte) []byte {
	nonce := e.hashed(e.prefix, salt)
	out := e.encoded(e.times(nonce))
	s := e.hashed(out, e.public, salt)
	s.Add(s.Mul(s, e.scalar), nonce)
	return append(out, appendLittle(nil, s.Mod(s, e.order))...)
}
