package cmd

import (
	"context"
	"errors"
)

func (o *exportOptions) exportCluster(ctx context.Context, env *Env, p *exportPlan) error {
	return errors.New("not yet")
}
