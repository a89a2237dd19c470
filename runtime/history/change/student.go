package change

import "math"

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// pooled is the chance of two means as different as these, or more, if both samples have one mean and
// one variance: Student's t on both sides.
func pooled(a, b []float64) float64 {
	ma, mb := mean(a), mean(b)
	var squares float64
	for _, v := range a {
		squares += (v - ma) * (v - ma)
	}
	for _, v := range b {
		squares += (v - mb) * (v - mb)
	}
	df := float64(len(a) + len(b) - 2)
	if df <= 0 || ma == mb {
		return 1
	}
	t := math.Abs(mb-ma) / math.Sqrt(squares/df*(1/float64(len(a))+1/float64(len(b))))
	return tails(t, df)
}

// tails is the chance that a variable of Student's distribution is beyond t on either side.
func tails(t, df float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return incompleteBeta(df/(df+t*t), df/2, 0.5)
}

// Bounds of the continued fraction.
const (
	fractionSteps = 300
	fractionEnd   = 1e-14
	fractionTiny  = 1e-300
)

// incompleteBeta is the regularized incomplete beta function I_x(a, b): the continued fraction of
// Numerical Recipes 6.4, by Lentz's method.
func incompleteBeta(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x >= (a+1)/(a+b+2) {
		return 1 - front*betaFraction(1-x, b, a)/b
	}
	return front * betaFraction(x, a, b) / a
}

func betaFraction(x, a, b float64) float64 {
	apart := func(v float64) float64 { // from zero
		if math.Abs(v) < fractionTiny {
			return fractionTiny
		}
		return v
	}
	c, d := 1.0, 1/apart(1-(a+b)*x/(a+1))
	h := d
	for i := 1; i <= fractionSteps; i++ {
		m := float64(i)
		for _, term := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			d = 1 / apart(1+term*d)
			c = apart(1 + term/c)
			h *= d * c
		}
		if math.Abs(d*c-1) < fractionEnd {
			break
		}
	}
	return h
}
