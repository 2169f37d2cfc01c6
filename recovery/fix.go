package recovery

import (
	"slices"

	"logdir/store/corrupt"
)

// maxFixFrame bounds what is read to look for a proof, in bytes.
const maxFixFrame = 128 << 20

// proof is a change of a few bytes that makes a damaged range a batch again, and why it
// can only be that.
type proof struct {
	pos   int64 // in the file
	old   []byte
	new   []byte
	words string
}

// fix puts back what can be proved. Each proof is tested by another survey: damage that it
// does not make disappear was not proved.
func (m *maker) fix() error {
	tried := map[int64]map[int64]bool{}
	for more := true; more; {
		var err error
		if more, err = m.fixOnce(tried); err != nil {
			return err
		}
	}
	m.rowEnds()
	return nil
}

// fixOnce is one round: what it puts back may uncover what else can be proved.
func (m *maker) fixOnce(tried map[int64]map[int64]bool) (bool, error) {
	proofs, err := m.proofs(tried)
	if err != nil || len(proofs) == 0 {
		return false, err
	}
	after, err := m.survey(m.withProofs(proofs), m.after)
	if err != nil {
		return false, err
	}
	failed := stillDamaged(after, proofs)
	if m.accept(proofs, failed) {
		m.forget(tried, failed)
	}
	if len(failed) > 0 {
		after, err = m.survey(m.edits, m.after)
	}
	m.after = after
	return true, err
}

// proofs looks for a proof for each damage that was not tried before.
func (m *maker) proofs(tried map[int64]map[int64]bool) (map[int64][]proof, error) {
	out := map[int64][]proof{}
	for i, g := range m.after.segments {
		if tried[g.Base] == nil {
			tried[g.Base] = map[int64]bool{}
		}
		for _, d := range g.damages {
			if tried[g.Base][d.Pos] || d.copied && d.kept { // a copy stands where it does by right
				continue
			}
			tried[g.Base][d.Pos] = true
			p, err := m.prove(i, g, d)
			if err != nil {
				return nil, err
			}
			if p != nil {
				out[g.Base] = append(out[g.Base], *p)
			}
		}
	}
	return out, nil
}

func (m *maker) withProofs(proofs map[int64][]proof) map[int64][]Edit {
	edits := map[int64][]Edit{}
	for base, e := range m.edits {
		edits[base] = slices.Clone(e)
	}
	for base, list := range proofs {
		for _, p := range list {
			edits[base] = mergeEdit(edits[base], p.edit())
		}
	}
	return edits
}

func (p proof) edit() Edit {
	return Edit{Pos: p.pos, Size: int64(len(p.new)), New: p.new, Reason: p.words}
}

// stillDamaged finds the proofs whose bytes lie in damage as before.
func stillDamaged(s *survey, proofs map[int64][]proof) map[int64]map[int64]bool {
	failed := map[int64]map[int64]bool{}
	for _, g := range s.segments {
		for _, p := range proofs[g.Base] {
			if slices.ContainsFunc(g.damages, func(d damage) bool { return d.Pos <= p.pos && p.pos < d.Pos+d.Size }) {
				if failed[g.Base] == nil {
					failed[g.Base] = map[int64]bool{}
				}
				failed[g.Base][p.pos] = true
			}
		}
	}
	return failed
}

// forget lets offsets and epochs be looked at anew, for which neighbours that were put back
// may now be proof.
func (m *maker) forget(tried, failed map[int64]map[int64]bool) {
	for _, g := range m.after.segments {
		for _, d := range g.damages {
			if d.Kind == corrupt.BadOffset && len(failed[g.Base]) == 0 {
				delete(tried[g.Base], d.Pos)
			}
		}
	}
}

// accept takes over the proofs that held, with a row each, and says whether any did.
func (m *maker) accept(proofs map[int64][]proof, failed map[int64]map[int64]bool) bool {
	rows := len(m.plan.Rows)
	for _, g := range m.after.segments {
		for _, p := range proofs[g.Base] {
			if failed[g.Base][p.pos] {
				continue
			}
			m.edits[g.Base] = mergeEdit(m.edits[g.Base], p.edit())
			m.plan.Rows = append(m.plan.Rows, m.plan.row(g.Base, kindAt(g, p.pos), corrupt.Unknown, "%s", p.words))
		}
	}
	return len(m.plan.Rows) > rows
}

func kindAt(g *segmentSurvey, pos int64) corrupt.Kind {
	for _, d := range g.damages {
		if d.Pos <= pos && pos < d.Pos+d.Size {
			return d.Kind
		}
	}
	return ""
}
