package compare

import "math"

// interval is an estimate with the bounds that it keeps at some level.
type interval struct{ low, value, high float64 }

// difference is b - a for two independent intervals of one level, by Zou and Donner's method of
// variance estimates recovery. It needs no density and keeps the asymmetry of both intervals.
// If they change places, it gives the mirror image.
func difference(a, b interval) interval {
	d := b.value - a.value
	return interval{
		low:   d - math.Hypot(b.value-b.low, a.high-a.value),
		value: d,
		high:  d + math.Hypot(b.high-b.value, a.value-a.low),
	}
}

// quantile bounds the logarithm of a quantile by order statistics: as many of n values
// are below the true one as a binomial says. critical is in standard errors. Where so few
// values cannot bound it, the bound is infinite.
func (c *curve) quantile(q, n, critical float64) interval {
	low, high := rankBounds(q, n, critical)
	i := interval{math.Inf(-1), math.Log(c.at(q)), math.Inf(1)}
	if low > 0 {
		i.low = math.Log(c.at(low))
	}
	if high < 1 {
		i.high = math.Log(c.at(high))
	}
	return i
}

// rankBounds are shares of n values that the true quantile lies between: the normal
// approximation with its term for skewness (Cornish, Fisher), and half a rank outwards.
func rankBounds(q, n, critical float64) (low, high float64) {
	half := critical*math.Sqrt(q*(1-q)/n) + 0.5/n
	skew := (critical*critical - 1) / 6 * (1 - 2*q) / n
	return q - half + skew, q + half + skew
}

// proportion is Wilson's interval of k in n.
func proportion(share, n, critical float64) interval {
	z := critical * critical / n
	middle := (share + z/2) / (1 + z)
	half := critical / (1 + z) * math.Sqrt((share*(1-share)+z/4)/n)
	return interval{min(max(middle-half, 0), share), share, max(min(middle+half, 1), share)}
}

// student is the critical value that a variable of Student's distribution exceeds, on either
// side, with a chance of alpha; df 0 means the normal distribution.
func student(alpha float64, df int) float64 {
	z := math.Sqrt2 * math.Erfcinv(alpha)
	if df <= 0 {
		return z
	}
	// The expansion in 1/df (Abramowitz and Stegun 26.7.5).
	v, z2 := float64(df), z*z
	return z + z*(z2+1)/(4*v) +
		z*((5*z2+16)*z2+3)/(96*v*v) +
		z*(((3*z2+19)*z2+17)*z2-15)/(384*v*v*v) +
		z*((((79*z2+776)*z2+1482)*z2-1920)*z2-945)/(92160*v*v*v*v)
}
